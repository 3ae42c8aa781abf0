import type { Database } from 'better-sqlite3'
import type { AuditReader, ChainCheck, ChainEnd } from '../../ports/audit-store.js'
import { LINKED_BLOB } from '../../trail/audit-chain.js'
import { ChainWalk } from '../../trail/follow-chain.js'
import type { TrailQueries } from '../../trail/trail-queries.js'
import { selectEnd, selectProgress } from './audit-end.js'
import { makePageReader } from './audit-search.js'
import { makeTextPageReader } from './audit-text-index.js'

/** Reads the trail on any connection. */
export function makeAuditReader(database: Database, queries: TrailQueries): AuditReader {
  const selectApplications = database
    .prepare<[number], string>(
      "select value from audit_values where name = 'application' order by value limit ?",
    )
    .pluck()
  const readEnd = selectEnd(database)
  const readProgress = selectProgress(database)
  const readPage = makePageReader(database)
  const readTextPage = makeTextPageReader(database)
  const checkChain = makeChainCheck(database)
  const { find, bodies, headsAfter, checkpoints, lastCheckpoint } = queries
  return {
    ...{ find, bodies, headsAfter, checkpoints, lastCheckpoint },
    page: (query) => Promise.resolve(readPage(query)),
    textPage: (query) => Promise.resolve(readTextPage(query)),
    applications: (limit) => Promise.resolve(selectApplications.all(limit)),
    check: (from, limit, links) => Promise.resolve(checkChain(from, limit, links)),
    end: () => {
      const { seq, hash } = readEnd()
      return Promise.resolve({ seq, hash: Buffer.from(hash).toString('hex') })
    },
    unindexed: () => {
      const { textSeq, endSeq } = readProgress()
      return Promise.resolve(endSeq - textSeq)
    },
    size: async () => {
      const endSeq = readEnd().seq
      return { firstSeq: (await queries.firstSeq()) ?? endSeq + 1, endSeq, bytes: usedBytes(database) }
    },
    lastRemovable: (recordedMs) => queries.lastStoredBefore(recordedMs, readEnd().seq),
  }
}

/**
 * Returns a function that checks the chain from a link over at most `limit` records, and returns
 * the links at the given positions.
 */
function makeChainCheck(
  database: Database,
): (from: ChainEnd, limit: number, positions: readonly number[]) => ChainCheck {
  const select = database
    .prepare<[number, number], [number, Buffer | null]>(
      `select seq, ${LINKED_BLOB} from audit where seq > ? order by seq limit ?`,
    )
    .raw(true)
  return (from, limit, positions) => {
    const walk = new ChainWalk(from, positions)
    // A record with an unexpected null has no blob, and an empty one matches no link.
    for (const [seq, blob] of select.iterate(from.seq, limit)) walk.add(seq, blob ?? Buffer.alloc(0))
    return walk.check()
  }
}

function usedBytes(database: Database): number {
  const pragma = (name: string): number => Number(database.pragma(name, { simple: true }))
  return (pragma('page_count') - pragma('freelist_count')) * pragma('page_size')
}
