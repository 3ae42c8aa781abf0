import { z } from 'zod'

import { executionTimeline } from '../../../audit/execution-timeline.js'
import type { TimelineDeps } from '../../../audit/execution-timeline.js'
import { exportTrail } from '../../../audit/export-trail.js'
import { recordLabels, toRecordView } from '../../../audit/record-view.js'
import { searchTrail } from '../../../audit/search-trail.js'
import { verifyTrail } from '../../../audit/verify-trail.js'
import { AppError, toAppError } from '../../../errors/app-error.js'
import { EXPORT_FORMATS } from '../../../store/ports/audit-export.js'
import type { ExportFormat } from '../../../store/ports/audit-export.js'
import { AUDIT_SOURCES } from '../../../store/ports/audit-store.js'
import type { AuditFilter, AuditReader } from '../../../store/ports/audit-store.js'
import type { Reader } from '../../../store/ports/readers.js'
import { jsonAnswer, jsonTextAnswer } from '../../exchange/json-answer.js'
import type { Exchange } from '../../exchange/exchange.js'
import { TimeRange, rangeOf } from '../../input/time-range.js'
import { numberOf, textOf } from '../../input/path-parameter.js'
import { AfterText, NextPage, Time, json, pageSize } from '../../pipeline/answer-schemas.js'
import { routesOf } from '../../pipeline/define-routes.js'
import type { LimitedStreams } from '../../pipeline/limited-streams.js'

export interface AuditRoutesDeps {
  readonly reader: Reader
  readonly lookups: Pick<AuditReader, 'find'>
  /** Public keys of current and former checkpoint signatures. */
  readonly publicKeys: readonly string[]
  /** Indexes new records for text search, as far as that is quick. */
  readonly caughtUp: () => Promise<void>
  /** Limits concurrent exports. */
  readonly exports: LimitedStreams
}

const MAX_PAGE = 500
const DEFAULT_PAGE = 50
const EXPORT_TYPES = { ndjson: 'application/x-ndjson', csv: 'text/csv; charset=utf-8' }

const Filter = {
  source: z.enum(AUDIT_SOURCES).optional(),
  kind: z.string().optional(),
  ...recordLabels,
  eventId: z.string().optional(),
  ...TimeRange,
}
const SearchQuery = z.strictObject({
  ...Filter,
  q: z.string().max(1000).optional().describe('Text search: records whose bodies contain all words.'),
  limit: pageSize(MAX_PAGE, DEFAULT_PAGE),
  cursor: AfterText,
})
const ExportQuery = z.strictObject({
  ...Filter,
  format: z.enum(EXPORT_FORMATS).default('ndjson'),
  bodies: z.enum(['true', 'false']).default('false'),
})
const VerifyQuery = z.strictObject({
  expected: z
    .string()
    .regex(/^\d{1,15}:[0-9a-f]{64}$/, 'must be the number of a record, a colon and its hash')
    .optional()
    .describe('A link that the chain must contain: the number of a record, a colon and its hash.'),
})

type GivenFilter = Omit<AuditFilter, 'fromMs' | 'toMs'> & Parameters<typeof rangeOf>[0]

const Record = z.looseObject({
  seq: z.int(),
  at: Time,
  recordedAt: Time,
  source: z.enum(AUDIT_SOURCES),
  kind: z.string(),
  ...recordLabels,
  origin: z.string().optional(),
  eventId: z.string().optional(),
  bodyBytes: z.int(),
  hash: z.string(),
})
const Verification = z.looseObject({
  isIntact: z.boolean(),
  problems: z.array(z.string()),
  firstBadSeq: z.int().optional(),
  checked: z.int(),
  end: z.object({ seq: z.int(), hash: z.string() }),
  startsAfterSeq: z.int(),
  checkpoints: z.looseObject({
    total: z.int(),
    signed: z.int(),
    signaturesChecked: z.boolean(),
    verified: z.int(),
    verifiedThroughSeq: z.int(),
  }),
})
const COMMON = { method: 'GET', roles: ['auditor'], handler: 'audit' } as const
const { route } = routesOf<AuditRoutesDeps>()

/**
 * `GET /audit` searches the trail; `/audit/{seq}`, `/audit/verify` and `/audit/export` show, verify
 * and export it.
 */
export const auditRoutes = [
  route({
    ...COMMON,
    path: '/audit',
    summary: 'Search the audit trail, newest first',
    query: SearchQuery,
    answers: {
      200: json('A page.', z.object({ records: z.array(Record), ...NextPage })),
    },
    answer: async ({ query: { q, limit, cursor, ...filter } }, deps) => {
      if (q !== undefined) await deps.caughtUp()
      return jsonAnswer(await searchTrail(deps.reader, { filter: toFilter(filter), text: q, limit, cursor }))
    },
  }),
  route({
    ...COMMON,
    path: '/audit/verify',
    summary: 'Verify the chain of the trail',
    query: VerifyQuery,
    answers: { 200: json('The result of the verification.', Verification) },
    answer: async ({ query: { expected } }, { reader, publicKeys }) => {
      const [seq = '', hash = ''] = expected?.split(':') ?? []
      const link = expected === undefined ? undefined : { seq: Number(seq), hash }
      return jsonAnswer(await verifyTrail({ reader, publicKeys, expected: link }))
    },
  }),
  route({
    ...COMMON,
    path: '/audit/export',
    summary: 'All matching records, oldest first',
    query: ExportQuery,
    answers: {
      200: {
        description: 'One record per line, or CSV.',
        types: ['application/x-ndjson', 'text/csv'],
      },
    },
    answer: ({ exchange, query: { format, bodies, ...filter } }, deps) =>
      answerExport(exchange, { filter: toFilter(filter), format, withBodies: bodies === 'true' }, deps),
  }),
  route({
    ...COMMON,
    path: '/audit/:seq',
    summary: 'One record with its body',
    params: { seq: numberOf('audit record') },
    answers: { 200: json('The record.', Record.extend({ body: z.unknown() })) },
    answer: async ({ params }, deps) => jsonTextAnswer(await recordText(deps, params.seq)),
  }),
]

/** Streams all matching records. Raises `unavailable` if too many exports are running. */
export async function answerExport(
  exchange: Exchange,
  query: { readonly filter: AuditFilter; readonly format: ExportFormat; readonly withBodies: boolean },
  { exports, reader }: AuditRoutesDeps,
): Promise<Response> {
  const headers = { 'Content-Type': EXPORT_TYPES[query.format], 'Cache-Control': 'no-store' }
  // HEAD needs no body.
  if (exchange.method === 'HEAD') return new Response(null, { headers })
  const body = await exports.start(exportTrail(reader, query), (raw) => exchange.breakOff(toAppError(raw)))
  return new Response(body, { headers })
}

function toFilter({ since, until, from, to, ...filter }: GivenFilter): AuditFilter {
  return { ...filter, ...rangeOf({ since, until, from, to }) }
}

/** Returns the record with its body verbatim, so numbers keep their digits. */
async function recordText({ lookups }: AuditRoutesDeps, seq: number): Promise<string> {
  const record = await lookups.find(seq)
  if (record === undefined) throw new AppError('not_found', `audit record ${seq} not found`)
  const head = JSON.stringify(toRecordView(record))
  return `${head.slice(0, -1)},"body":${Buffer.from(record.body).toString()}}`
}

const Entry = z.looseObject({
  at: Time,
  source: z.string(),
  kind: z.string(),
  stage: z.string().optional(),
  user: z.string().optional(),
  status: z.string().optional(),
  auditSeq: z.int().optional(),
  decisionId: z.string().optional(),
  path: z.string().optional(),
})
const Timeline = z.object({
  executionId: z.string(),
  application: z.string().optional(),
  pipeline: z.string().optional(),
  entries: z.array(Entry),
  isTruncated: z.boolean(),
})

/** `GET /executions/{id}/timeline`. */
export const executionRoutes = [
  routesOf<TimelineDeps>().route({
    method: 'GET',
    path: '/executions/:id/timeline',
    roles: ['auditor'],
    handler: 'executions',
    summary: 'Timeline of an execution',
    params: { id: textOf('Id of the execution.') },
    answers: { 200: json('Its story.', Timeline) },
    answer: async ({ params }, deps) => jsonAnswer(await executionTimeline(deps, params.id)),
  }),
]
