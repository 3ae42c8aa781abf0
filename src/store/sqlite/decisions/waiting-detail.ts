import type { Database, Statement } from 'better-sqlite3'

import type { InputPacker } from './input-packer.js'

/**
 * Removes the inputs, results and calls of built-ins of decisions that receivers wait for, the
 * oldest first, so that the decisions themselves stay longer in a full log.
 */
export class WaitingDetail {
  readonly #database: Database
  readonly #inputs: Pick<InputPacker, 'removeBefore'>
  readonly #receivers: string
  readonly #isWaited: Statement<[string], number>
  readonly #page: Statement<[number, number], number>
  readonly #remove: Statement<[number, number]>
  /** Decisions up to this number have no detail. */
  #throughSeq = 0
  #count = 0

  /** `receivers` are names of `shipping`. Without any, nothing is removed. */
  constructor(database: Database, inputs: Pick<InputPacker, 'removeBefore'>, receivers: readonly string[]) {
    this.#database = database
    this.#inputs = inputs
    this.#receivers = JSON.stringify(receivers)
    // A decision that all receivers have is deleted as a whole.
    this.#isWaited = database
      .prepare<[string], number>(
        `select exists (select 1 from shipping where receiver in (select value from json_each(?))
           and through_seq < (select min(seq) from decisions))`,
      )
      .pluck()
    this.#page = database
      .prepare<[number, number], number>(
        'select max(seq) from (select seq from decisions where seq > ? order by seq limit ?)',
      )
      .pluck()
    this.#remove = database.prepare(
      `update decisions set input = null, input_extents = null, nd_builtin_cache = null, result = null,
         input_truncated = input_bytes is not null, result_truncated = result_truncated or result is not null
       where seq > ? and seq <= ?
         and (input is not null or input_extents is not null or nd_builtin_cache is not null or result is not null)`,
    )
  }

  /**
   * Removes the detail of the next decisions, `limit` at most. Returns the number of visited
   * decisions: 0 if the oldest is not waited for, or if none has detail.
   */
  removeDetail(limit: number): number {
    return this.#database.transaction(() => {
      if (this.#isWaited.get(this.#receivers) !== 1) return 0
      const through = this.#page.get(this.#throughSeq, limit) ?? 0
      if (through === 0) return 0
      this.#count += this.#remove.run(this.#throughSeq, through).changes
      this.#throughSeq = through
      this.#inputs.removeBefore(through + 1)
      return limit
    })()
  }

  /** Begins with the oldest decision again. Call it when numbers are given a second time. */
  restart(): void {
    this.#throughSeq = 0
  }

  /** Number of decisions that lost their detail since the last call. */
  takeCount(): number {
    const count = this.#count
    this.#count = 0
    return count
  }
}
