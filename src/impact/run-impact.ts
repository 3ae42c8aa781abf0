import { ChangedParts } from './changed-parts.js'
import type { IsChanged } from './changed-parts.js'
import { CaseEvaluator, evaluateBoth } from './evaluate-case.js'
import type { EvaluationSettings, Sides } from './evaluate-case.js'
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
  /** Called after each case. */
  readonly progress: (tally: ImpactTally) => void
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

/** Evaluates cases with both revisions and counts the differences. Raises the errors of `cases`. */
export async function runImpact(
  cases: AsyncIterable<ReplayCase | NotReplayable> | Iterable<ReplayCase | NotReplayable>,
  { before, after, settings, isChanged, maxCases, isOver, progress }: ImpactRun,
): Promise<ImpactOutcome> {
  const tally = new ImpactTally()
  const sides = {
    before: new CaseEvaluator(before, settings),
    after: new CaseEvaluator(after, settings),
  }
  const changed = isChanged && new ChangedParts(isChanged, sides)
  const partial = (note: string): ImpactOutcome => ({ tally, isPartial: true, notes: [note] })
  let failingMs = 0
  for await (const found of cases) {
    if (tally.seen >= maxCases) return partial(`The run ended after ${maxCases} inputs, its limit.`)
    if (isOver()) return partial('The run ended at its time limit.')
    if ('reason' in found) tally.addNotReplayable(found)
    else failingMs += await addCase(tally, found, sides, changed)
    if (failingMs > FAILING_MS)
      return partial('The run ended early, because evaluations of the candidate fail and take long.')
    progress(tally)
  }
  return { tally, isPartial: false, notes: [] }
}

/** Returns the time of the candidate's evaluation if it fails, in milliseconds. */
async function addCase(
  tally: ImpactTally,
  replayed: ReplayCase,
  sides: Sides,
  changed: ChangedParts | undefined,
): Promise<number> {
  const isWhole = tally.seen < WHOLE_CASES || tally.seen % WHOLE_EVERY === 0
  if (!isWhole && changed !== undefined && (await changed.answerAlike(replayed))) {
    tally.addAlike(replayed)
    return 0
  }
  const { origin, id } = replayed
  const answers = await evaluateBoth(replayed, sides, tally.seen % 2 === 1)
  if (answers === undefined) tally.addNotReplayable({ origin, id, reason: 'unrecorded_call' })
  else tally.add(replayed, answers)
  return answers?.after.outcome === 'error' ? answers.after.durationMs : 0
}
