import type { SharedDecisions } from '../../ports/decision-shipping.js'
import { PooledQueries } from '../engine/pooled-queries.js'
import { toStoreError } from '../engine/postgres-error.js'
import type { PostgresSettings } from '../engine/postgres-settings.js'
import { SilenceAtEnd } from '../engine/silence-at-end.js'
import { makeDecisionReader } from './decision-reader.js'
import { removeDecisionMonths } from './decision-months.js'
import { startShipping } from './shipping-thread.js'

/** A search may be over much that no index finds. */
const READING = { statementMs: 30_000, lockMs: 3000 }
const CONNECTIONS = 2

/** The decision log of all replicas, over connections that are made when they are needed. */
export function openSharedDecisions(
  settings: PostgresSettings,
  atEnd = new SilenceAtEnd(settings),
): SharedDecisions {
  const queries = new PooledQueries(settings, READING, CONNECTIONS, atEnd)
  return {
    store: { ...makeDecisionReader(queries), close: () => queries.close() },
    startShipping: (options) => startShipping(settings, options, atEnd.givenUp),
    removeMonthsBefore: async (timeMs) => {
      try {
        return await removeDecisionMonths(settings, timeMs)
      } catch (raw) {
        throw toStoreError('remove old decisions', raw)
      }
    },
  }
}
