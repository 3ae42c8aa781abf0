import type { Database } from 'better-sqlite3'
import { queryBuilder } from '../engine/service-file.js'
import type { Review } from '../../ports/gate-instance.js'
import type { InstanceDocuments, GateReader } from '../../ports/gate-store.js'
import { makeInstanceLists } from '../../gates/list-instances.js'
import { toGate, toInstance } from '../../tables/gate-tables.js'
import type {
  InstanceDocumentsTable,
  GateReviewsTable,
  GatesTable,
  InstanceRow,
} from '../../tables/gate-tables.js'

/**
 * Open instances by the time they expire, in the words of the partial index. Named, since SQLite would take the index of states and
 * read every open instance.
 */
export const OPEN_INSTANCES =
  "gate_instances indexed by gate_instances_open where state in ('not_activated', 'activated')"

/** Reads gates on any connection. */
export function makeGateReader(database: Database): GateReader {
  const db = queryBuilder(database)
  const selectGates = database.prepare<[], GatesTable>('select * from gates order by id')
  const selectGate = database.prepare<[number], GatesTable>('select * from gates where id = ?')
  const selectInstance = database.prepare<[number], InstanceRow>('select * from gate_instances where id = ?')
  const selectWork = database
    .prepare<[number, number], number>(
      'select id from gate_instances where work is not null and id > ? order by id limit ?',
    )
    .pluck()
  const selectExpiry = database
    .prepare<[], number>(`select expires_ms from ${OPEN_INSTANCES} order by expires_ms limit 1`)
    .pluck()
  const selectOldestEnd = database
    .prepare<[], number | null>('select min(decided_ms) from gate_instances where decided_ms is not null')
    .pluck()
  return {
    listGates: () => Promise.resolve(selectGates.all().map(toGate)),
    findGate: (gateId) => {
      const row = selectGate.get(gateId)
      return Promise.resolve(row === undefined ? undefined : toGate(row))
    },
    findInstance: (instanceId) => {
      const row = selectInstance.get(instanceId)
      return Promise.resolve(row === undefined ? undefined : toInstance(row))
    },
    ...prepareDocuments(database),
    ...makeInstanceLists(db),
    instancesWithWork: (afterId, limit) => Promise.resolve(selectWork.all(afterId, limit)),
    nextExpiryMs: () => Promise.resolve(selectExpiry.get()),
    oldestEndMs: () => Promise.resolve(selectOldestEnd.get() ?? undefined),
  }
}

function prepareDocuments(database: Database): Pick<GateReader, 'findDocuments' | 'reviewsOf'> {
  const selectDocuments = database.prepare<[number], InstanceDocumentsTable>(
    'select * from gate_papers where instance_id = ?',
  )
  const selectReviews = database.prepare<[number], GateReviewsTable>(
    'select * from gate_reviews where instance_id = ? order by id',
  )
  return {
    findDocuments: (instanceId) => {
      const row = selectDocuments.get(instanceId)
      const documents: InstanceDocuments = {
        request: row?.request ?? undefined,
        evidence: row?.evidence ?? undefined,
      }
      return Promise.resolve(documents)
    },
    reviewsOf: (instanceId) =>
      Promise.resolve(
        selectReviews.all(instanceId).map(({ person, action, comment, time_ms }): Review => ({
          person,
          action,
          comment,
          timeMs: time_ms,
        })),
      ),
  }
}
