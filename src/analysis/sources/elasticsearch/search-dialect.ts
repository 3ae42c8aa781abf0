import { z } from 'zod'

import type { SourceRequest } from '../answers/source-connection.js'

/** Differences between Elasticsearch and OpenSearch. */
export interface SearchDialect {
  readonly openPointInTime: (index: string, keepAlive: string) => SourceRequest
  /** The id of the point in time in the answer to opening it. */
  readonly readPointInTime: (json: unknown) => string | undefined
  readonly closePointInTime: (id: string) => SourceRequest
  /** An order without ties, so that `search_after` leaves nothing out. */
  readonly sort: (timeField: string) => readonly unknown[]
}

const ElasticsearchPoint = z.object({ id: z.string().min(1) })
const OpenSearchPoint = z.object({ pit_id: z.string().min(1) })

/** From 7.12 on: searches in a point in time have `_shard_doc` as an implicit last sort key. */
export const ELASTICSEARCH: SearchDialect = {
  openPointInTime: (index, keepAlive) => ({
    method: 'POST',
    path: `/${encodeURIComponent(index)}/_pit`,
    search: { keep_alive: keepAlive },
  }),
  readPointInTime: (json) => ElasticsearchPoint.safeParse(json).data?.id,
  closePointInTime: (id) => ({ method: 'DELETE', path: '/_pit', json: { id } }),
  // As a string: nanoseconds as a number would lose digits in JSON.
  sort: (timeField) => [
    {
      [timeField]: {
        order: 'asc',
        format: 'strict_date_optional_time_nanos',
        numeric_type: 'date_nanos',
      },
    },
  ],
}

/** From 2.4 on. It knows `_shard_doc` from 3.3 on only, so that `_id` breaks the ties. */
export const OPENSEARCH: SearchDialect = {
  openPointInTime: (index, keepAlive) => ({
    method: 'POST',
    path: `/${encodeURIComponent(index)}/_search/point_in_time`,
    search: { keep_alive: keepAlive },
  }),
  readPointInTime: (json) => OpenSearchPoint.safeParse(json).data?.pit_id,
  closePointInTime: (id) => ({
    method: 'DELETE',
    path: '/_search/point_in_time',
    json: { pit_id: [id] },
  }),
  sort: (timeField) => [{ [timeField]: { order: 'asc', numeric_type: 'date' } }, { _id: 'asc' }],
}
