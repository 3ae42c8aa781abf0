import type { ChainCheck, ChainEnd } from '../../ports/audit-store.js'
import { END_OF_COLUMN, LINKED_COLUMNS, NO_VALUE } from '../../trail/audit-chain.js'
import { ChainWalk } from '../../trail/follow-chain.js'
import type { Queries } from '../engine/session.js'

/** The stored link, then all that it covers, as one value: each column as text with a sign behind it, then the stored body. */
const COLUMNS = LINKED_COLUMNS.map((name) => `coalesce("${name}"::text, chr(${NO_VALUE}))`)
const LINKED = `hash || convert_to(concat_ws(chr(${END_OF_COLUMN}), ${COLUMNS.join(', ')}, ''), 'UTF8') || body`

/** Follows the chain from a link over at most so many records, and notes the links at the places asked for. */
export async function checkChain(
  queries: Queries,
  from: ChainEnd,
  limit: number,
  places: readonly number[],
): Promise<ChainCheck> {
  const walk = new ChainWalk(from, places)
  const text = `select seq, ${LINKED} from audit where seq > ${whole(from.seq)} order by seq limit ${whole(limit)}`
  await queries.copyOut(`copy (${text}) to stdout (format binary)`, ([seq, blob]) => {
    if (seq !== undefined && blob !== undefined) walk.add(Number(seq.readBigInt64BE()), blob)
  })
  return walk.check()
}

/** COPY takes no parameters. */
function whole(value: number): string {
  return String(Math.max(0, Math.trunc(value)))
}
