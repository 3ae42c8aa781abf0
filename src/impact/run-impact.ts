import { ChangedParts } from './changed-parts.js'
import type { IsChanged } from './changed-parts.js'
import { ALL_PACKAGES, comparisonOf } from './compare-cases.js'
import type { AffectedPackages, CaseTask, ComparedCase, CompareCases } from './compare-cases.js'
import { CaseEvaluator } from './evaluate-case.js'
import type { EvaluationSettings } from './evaluate-case.js'
import { ImpactTally } from './impact-tally.js'
import type { NotReplayable, ReplayCase } from './replay-case.js'
import type { Snapshot } from '../rego/index.js'

/** The revisions to compare, and when to stop. */
export interface ImpactRun {
  readonly before: Snapshot
  readonly after: Snapshot
  readonly settings: EvaluationSettings
  /** What differs between the revisions; by default everything may. */
  readonly isChanged?: IsChanged | undefined
  /** Largest number of cases. */
  readonly maxCases: number
  /** Whether the run has used up its time. */
  readonly isOver: () => boolean
  /** Called after each case, and after each batch. */
  readonly progress: (tally: ImpactTally) => void
  /**
   * Starts threads for the cases after the first thousand. By default this thread evaluates all of
   * them.
   */
  readonly startThreads?: ((affected: AffectedPackages) => CompareCases) | undefined
}

/** The counts, and whether cases were left. */
export interface ImpactOutcome {
  readonly tally: ImpactTally
  readonly isPartial: boolean
  /** Sentences about the run. */
  readonly notes: string[]
}

/** Time for failing evaluations of the candidate, after which it is not evaluated further. */
const FAILING_MS = 30_000

/**
 * Inputs that both revisions evaluate with all packages: the first ones, and then one of so many. They
 * show the cost. Only changed packages of the others are evaluated, unless these answer differently.
 */
const [WHOLE_CASES, WHOLE_EVERY] = [1000, 21]

/** A batch takes some milliseconds, and bounds the time without progress. */
export const BATCH_CASES = 8
const BATCH_BYTES = 1024 * 1024
/** Batches that wait for their answers: one in each of two threads, and the next ones. */
const MAX_WAITING = 4

/** Evaluates cases with both revisions and counts the differences. Raises the errors of `cases`. */
export async function runImpact(
  cases: AsyncIterable<ReplayCase | NotReplayable> | Iterable<ReplayCase | NotReplayable>,
  run: ImpactRun,
): Promise<ImpactOutcome> {
  const { maxCases, isOver, progress } = run
  const sides = {
    before: new CaseEvaluator(run.before, run.settings),
    after: new CaseEvaluator(run.after, run.settings),
  }
  const changed = run.isChanged && new ChangedParts(run.isChanged, sides)
  const affected = changed?.affected ?? ALL_PACKAGES
  const tally = new ImpactTally()
  const batches = new Batches(tally, comparisonOf(sides, affected), progress)
  const partial = async (note: string): Promise<ImpactOutcome> => {
    await batches.finish()
    return { tally, isPartial: true, notes: [note] }
  }
  let seen = 0
  for await (const found of cases) {
    if (seen >= maxCases) return await partial(`The run ended after ${maxCases} inputs, its limit.`)
    if (isOver()) return await partial('The run ended at its time limit.')
    if (seen === WHOLE_CASES && run.startThreads !== undefined) batches.compare = run.startThreads(affected)
    const isWhole = seen < WHOLE_CASES || seen % WHOLE_EVERY === 0 || changed === undefined
    if ('reason' in found) tally.addNotReplayable(found)
    else if (isWhole || changed.mayDiffer(found))
      await batches.add({ replayed: found, isWhole, isAfterFirst: seen % 2 === 1 })
    else tally.addAlike(found)
    seen += 1
    if (batches.failingMs > FAILING_MS)
      return await partial('The run ended early, because evaluations of the candidate fail and take long.')
    progress(tally)
  }
  await batches.finish()
  return { tally, isPartial: false, notes: [] }
}

interface Batch {
  readonly tasks: readonly CaseTask[]
  readonly compared: Promise<readonly ComparedCase[]>
}

/** Compares cases in batches and counts them in their order. */
class Batches {
  compare: CompareCases
  /** Time of the candidate's failing evaluations, in milliseconds. */
  failingMs = 0
  readonly #tally: ImpactTally
  readonly #progress: ImpactRun['progress']
  readonly #waiting: Batch[] = []
  #tasks: CaseTask[] = []
  #bytes = 0

  constructor(tally: ImpactTally, compare: CompareCases, progress: ImpactRun['progress']) {
    this.#tally = tally
    this.#progress = progress
    this.compare = compare
  }

  async add(task: CaseTask): Promise<void> {
    this.#tasks.push(task)
    this.#bytes += task.replayed.input?.length ?? 0
    if (this.#tasks.length < BATCH_CASES && this.#bytes < BATCH_BYTES) return
    this.#start()
    await this.#count(MAX_WAITING)
  }

  async finish(): Promise<void> {
    this.#start()
    await this.#count(0)
  }

  #start(): void {
    if (this.#tasks.length === 0) return
    const compared = this.compare(this.#tasks)
    // A failed batch is reported when its turn comes.
    compared.catch(() => undefined)
    this.#waiting.push({ tasks: this.#tasks, compared })
    this.#tasks = []
    this.#bytes = 0
  }

  /** Counts the oldest batches until at most `left` wait. */
  async #count(left: number): Promise<void> {
    while (this.#waiting.length > left) {
      const { tasks = [], compared } = this.#waiting.shift() ?? {}
      for (const [index, found] of ((await compared) ?? []).entries()) {
        const task = tasks[index]
        if (task !== undefined) this.#countOne(task.replayed, found)
      }
      this.#progress(this.#tally)
    }
  }

  #countOne(replayed: ReplayCase, compared: ComparedCase): void {
    const { origin, id } = replayed
    if (compared === 'alike') this.#tally.addAlike(replayed)
    else if (compared === 'unrecorded')
      this.#tally.addNotReplayable({ origin, id, reason: 'unrecorded_call' })
    else {
      this.#tally.add(replayed, compared)
      if (compared.after.outcome === 'error') this.failingMs += compared.after.durationMs
    }
  }
}
