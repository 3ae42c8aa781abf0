import type { ChainCheck, ChainEnd } from '../../ports/audit-store.js'
import { END_OF_COLUMN, LINKED_COLUMNS, NO_VALUE } from '../../trail/audit-chain.js'
import { followChain } from '../../trail/follow-chain.js'
import type { LinkedBlob } from '../../trail/follow-chain.js'
import type { Queries } from '../engine/session.js'
import { all } from '../engine/statements.js'

/** The stored link, then all that it covers, as one value: each column as text with a sign behind it, then the stored body. */
const COLUMNS = LINKED_COLUMNS.map(
  (name) => `coalesce("${name}"::text, chr(${NO_VALUE})) || chr(${END_OF_COLUMN})`,
)
const LINKED = `hash || convert_to(${COLUMNS.join(' || ')}, 'UTF8') || body`
const AT_ONCE = 2000

/** Follows the chain from a link over at most so many records, and notes the links at the places asked for. */
export async function checkChain(
  queries: Queries,
  from: ChainEnd,
  limit: number,
  places: readonly number[],
): Promise<ChainCheck> {
  const links: ChainEnd[] = []
  let end = from
  for (;;) {
    const count = Math.min(AT_ONCE, limit - (end.seq - from.seq))
    const blobs = count > 0 ? await readBlobs(queries, end.seq, count) : []
    const found = followChain(end, blobs, places)
    links.push(...found.links)
    end = found.end
    if (found.broken !== undefined || blobs.length < count || count <= 0) {
      return { end, checked: end.seq - from.seq, broken: found.broken, links }
    }
  }
}

async function readBlobs(queries: Queries, afterSeq: number, limit: number): Promise<LinkedBlob[]> {
  const text = `select seq, ${LINKED} as blob from audit where seq > $1 order by seq limit $2`
  const rows = await all<{ seq: number; blob: Buffer }>(queries, text, [afterSeq, limit])
  return rows.map(({ seq, blob }) => [seq, blob])
}
