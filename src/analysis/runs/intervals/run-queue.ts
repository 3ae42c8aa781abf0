/** A run that waits for its next interval. */
export interface WaitingRun {
  readonly id: number
  readonly application: string
  /** When its next interval is due, in milliseconds since the epoch. */
  readonly dueMs: number
}

/** Which run is judged next: several at a time, each run's intervals one after another. */
export class RunQueue {
  readonly #runs = new Map<number, WaitingRun>()
  readonly #underWay = new Map<number, string>()
  readonly #most: number
  readonly #mostOfOne: number

  /** Creates a queue for at most `most` intervals at a time. */
  constructor(most: number) {
    this.#most = most
    // The queries of one application may hang and must not take all slots.
    this.#mostOfOne = Math.ceil(most / 2)
  }

  /** A run waits, or waits for another time. */
  add(run: WaitingRun): void {
    this.#runs.set(run.id, run)
  }

  /** Adds a run, or changes its due time. */
  postpone(id: number, dueMs: number): void {
    const run = this.#runs.get(id)
    if (run !== undefined) this.#runs.set(id, { ...run, dueMs })
  }

  /** Removes a run. */
  remove(id: number): void {
    this.#runs.delete(id)
  }

  /** The run to judge first: the one that has been due longest among those that may start. */
  next(): WaitingRun | undefined {
    if (this.#underWay.size >= this.#most) return undefined
    let next: WaitingRun | undefined
    for (const run of this.#runs.values()) {
      if ((next === undefined || run.dueMs < next.dueMs) && this.#isFree(run)) next = run
    }
    return next
  }

  /** Marks an interval as running until its end is reported. */
  begin({ id, application }: WaitingRun): void {
    this.#underWay.set(id, application)
  }

  end(id: number): void {
    this.#underWay.delete(id)
  }

  #isFree({ id, application }: WaitingRun): boolean {
    if (this.#underWay.has(id)) return false
    let others = 0
    for (const other of this.#underWay.values()) if (other === application) others += 1
    return others < this.#mostOfOne
  }
}
