import type { ReplayedCalls } from '../rego/index.js'
import { changeOf } from './compare-answers.js'
import { evaluateBoth, recordedCallsOf } from './evaluate-case.js'
import type { CaseAnswer, CaseAnswers, CaseEvaluator, Sides } from './evaluate-case.js'
import type { ReplayCase } from './replay-case.js'

/** The keys of the static packages to evaluate with each revision; undefined for all. */
export interface AffectedPackages {
  readonly before: readonly string[] | undefined
  readonly after: readonly string[] | undefined
}

export const ALL_PACKAGES: AffectedPackages = { before: undefined, after: undefined }

/** A case to compare, and how. */
export interface CaseTask {
  readonly replayed: ReplayCase
  /** True to evaluate all packages, which shows the cost. */
  readonly isWhole: boolean
  /** True to evaluate the candidate first. */
  readonly isAfterFirst: boolean
}

/** The answers of a whole case, `alike` without them, or `unrecorded` for a call without result. */
export type ComparedCase = CaseAnswers | 'alike' | 'unrecorded'

/** Compares cases in order. */
export type CompareCases = (tasks: readonly CaseTask[]) => Promise<readonly ComparedCase[]>

const NOTHING: CaseAnswer = { outcome: 'allow', reasons: [], warnings: [], durationMs: 0 }

/** Returns a comparison in this thread. `affected` are the static packages that may differ. */
export function comparisonOf(sides: Sides, affected: AffectedPackages): CompareCases {
  return async (tasks) => {
    const compared: ComparedCase[] = []
    for (const task of tasks) compared.push(await compareCase(task, sides, affected))
    return compared
  }
}

async function compareCase(
  { replayed, isWhole, isAfterFirst }: CaseTask,
  sides: Sides,
  affected: AffectedPackages,
): Promise<ComparedCase> {
  const parts = replayed.kind === 'static' ? affected : ALL_PACKAGES
  if (!isWhole && (await answerAlike(replayed, sides, parts))) return 'alike'
  return (await evaluateBoth(replayed, sides, isAfterFirst)) ?? 'unrecorded'
}

/**
 * Whether both revisions answer the changed part of a case alike and without an error. The whole
 * case is then answered alike, too.
 */
async function answerAlike(replayed: ReplayCase, sides: Sides, affected: AffectedPackages): Promise<boolean> {
  const calls = recordedCallsOf(replayed)
  const before = await evaluatePart(sides.before, replayed, calls, affected.before)
  if (before === undefined || before.outcome === 'error') return false
  const after = await evaluatePart(sides.after, replayed, calls, affected.after)
  if (after === undefined || after.outcome === 'error') return false
  return changeOf({ before, after }) === undefined
}

async function evaluatePart(
  evaluator: CaseEvaluator,
  replayed: ReplayCase,
  calls: ReplayedCalls,
  packages: readonly string[] | undefined,
): Promise<CaseAnswer | undefined> {
  return packages?.length === 0 ? NOTHING : await evaluator.evaluate(replayed, calls, packages)
}
