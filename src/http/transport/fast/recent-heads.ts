import { HEAD_END, beginsWith, readPlainHead } from './read-plain-head.js'
import type { PlainHead } from './read-plain-head.js'

/** None is longer than 8 KiB: their bytes, and the texts that were read of them, take some 1 MiB at the most. */
const MOST_HEADS = 64
/** What no secret is in, nor in a path: others, and queries, are neither kept nor compared, which would take longer the more of one was guessed. */
const WITHOUT_SECRETS: ReadonlySet<string> = new Set(
  'accept accept-encoding connection content-length content-type host user-agent'.split(' '),
)

/**
 * The heads that were taken last of all connections, one for each length: callers who connect anew for each request send the same one again
 * and again, and equal bytes make an equal head, which needs no second look.
 */
export class RecentHeads {
  readonly #heads = new Map<number, PlainHead>()

  /** The head at the beginning of `bytes` where it is plain and `takes` it; undefined for all others. */
  read(bytes: Buffer, takes: (head: PlainHead) => boolean): PlainHead | undefined {
    const end = bytes.indexOf(HEAD_END)
    const known = this.#heads.get(end)
    if (known !== undefined && beginsWith(bytes, known)) return known
    const head = readPlainHead(bytes, end)
    if (head === undefined || !takes(head)) return undefined
    if (head.url.includes('?') || ![...head.headers.keys()].every((name) => WITHOUT_SECRETS.has(name)))
      return head
    if (this.#heads.size >= MOST_HEADS) this.#heads.clear()
    this.#heads.set(end, head)
    return head
  }
}
