import type { Kysely } from 'kysely'
import { makeInstanceLists } from '../../gates/list-instances.js'
import type { Review } from '../../ports/gate-instance.js'
import type { GateReader } from '../../ports/gate-store.js'
import { toGate, toInstance } from '../../tables/gate-tables.js'
import type {
  GateReviewsTable,
  GatesTable,
  InstanceDocumentsTable,
  InstanceRow,
} from '../../tables/gate-tables.js'
import type { ServiceDatabase } from '../../tables/service-database.js'
import type { Queries } from '../engine/session.js'
import { all, first } from '../engine/statements.js'

/** Open instances, in the words of the partial index. */
export const OPEN_INSTANCES = "gate_instances where state in ('not_activated', 'activated')"

/** Reads gates. */
export function makeGateReader(queries: Queries, db: Kysely<ServiceDatabase>): GateReader {
  return {
    listGates: async () => (await all<GatesTable>(queries, 'select * from gates order by id')).map(toGate),
    findGate: async (gateId) => {
      const row = await first<GatesTable>(queries, 'select * from gates where id = $1', [gateId])
      return row && toGate(row)
    },
    findInstance: async (instanceId) => {
      const row = await first<InstanceRow>(queries, 'select * from gate_instances where id = $1', [
        instanceId,
      ])
      return row && toInstance(row)
    },
    findDocuments: async (instanceId) => {
      const text = 'select * from gate_papers where instance_id = $1'
      const row = await first<InstanceDocumentsTable>(queries, text, [instanceId])
      return { request: row?.request ?? undefined, evidence: row?.evidence ?? undefined }
    },
    reviewsOf: async (instanceId) => {
      const text = 'select * from gate_reviews where instance_id = $1 order by id'
      const rows = await all<Omit<GateReviewsTable, 'id'>>(queries, text, [instanceId])
      return rows.map(({ person, action, comment, time_ms }): Review => ({
        person,
        action,
        comment,
        timeMs: time_ms,
      }))
    },
    ...makeInstanceLists(db),
    instancesWithWork: async (afterId, limit) => {
      const text = 'select id from gate_instances where work is not null and id > $1 order by id limit $2'
      return (await all<{ id: number }>(queries, text, [afterId, limit])).map(({ id }) => id)
    },
    nextExpiryMs: async () => {
      const text = `select expires_ms from ${OPEN_INSTANCES} order by expires_ms limit 1`
      return (await first<{ expires_ms: number }>(queries, text))?.expires_ms
    },
    oldestEndMs: async () => {
      const text =
        'select decided_ms from gate_instances where decided_ms is not null order by decided_ms limit 1'
      return (await first<{ decided_ms: number }>(queries, text))?.decided_ms
    },
  }
}
