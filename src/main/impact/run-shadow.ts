import { setTimeout } from 'node:timers/promises'

import { CaseEvaluator, evaluateBoth } from '../../impact/evaluate-case.js'
import { readNewDecisions } from '../../impact/follow-decisions.js'
import { ImpactTally } from '../../impact/impact-tally.js'
import type { ImpactResult, RevisionView } from '../../impact/impact-result.js'
import { caseOfDecision } from '../../impact/replay-case.js'
import { hostBuiltins, loadSnapshot, unpackSnapshot, type Snapshot } from '../../rego/index.js'
import type { NotReplayable } from '../../impact/replay-case.js'
import type { DecisionReadStore, StoredDecision } from '../../store/ports/decision-store.js'
import { inDataDirectory } from '../store/store-location.js'
import { openStoredDecisions } from '../store/open-store.js'
import type { ShadowProgress, ShadowThreadOptions } from '../threads/shadow-thread.js'
import { candidateOptions } from './load-candidate.js'

const POLL_MS = 1000
/** Decisions that may wait. If more arrive during an evaluation, the oldest are not evaluated. */
const MAX_WAITING = 1000
const REPORT_MS = 1000
const PERCENT = 100

/**
 * Evaluates new decisions of the log with the shadow and with the policies that serve, until the
 * thread is terminated. Raises as `loadSnapshot`, and `unavailable` if the log cannot be read.
 */
export async function runShadow(
  options: ShadowThreadOptions,
  report: (progress: ShadowProgress) => void,
): Promise<never> {
  const { config, serving, exceptions, staged } = options
  const { shadow, limits, ...settings } = config.policies
  const sharePercent = staged === undefined ? shadow.sharePercent : PERCENT
  const after = await loadCompared(options)
  const before = await unpackSnapshot(serving, hostBuiltins, limits)
  const store = await openStoredDecisions(inDataDirectory(config.dataDir), config.dataDir)
  const evaluation = { ...settings, exceptions }
  const sides = {
    before: new CaseEvaluator(before, evaluation),
    after: new CaseEvaluator(after, evaluation),
  }
  const tally = new ImpactTally()
  const counts = { dropped: 0, leftOut: 0, failed: 0 }
  const warnings = after.warnings.map(({ code, message }) => ({ code, message }))
  const candidate: RevisionView = {
    name: staged === undefined ? 'shadow' : 'staged',
    revision: after.revision,
    warnings,
  }
  const against: RevisionView = { name: 'serving', revision: before.revision, warnings: [] }
  const result = (): ImpactResult => {
    const notes = counts.dropped === 0 ? [] : [droppedNote(counts.dropped)]
    return tally.result({ candidate, against, isPartial: counts.dropped > 0, notes })
  }
  let reportedMs = 0
  let credit = 0
  const add = async (decision: StoredDecision): Promise<void> => {
    credit += sharePercent
    if (credit < PERCENT) {
      counts.leftOut += 1
      return
    }
    credit -= PERCENT
    const found = caseOfDecision(decision)
    const { origin, id } = found
    const answers = 'reason' in found ? found : await evaluateBoth(found, sides, tally.seen % 2 === 1)
    if (answers === undefined) tally.addNotReplayable({ origin, id, reason: 'unrecorded_call' })
    else if ('reason' in answers) tally.addNotReplayable(answers)
    else if (!('reason' in found)) tally.add(found, answers)
    if (staged !== undefined && hasFailedOnce(decision, after.revision, answers)) counts.failed += 1
  }
  report({ ...counts, result: result() })
  for (let last = await lastSeqBefore(store, staged?.sinceMs); ;) {
    await setTimeout(POLL_MS)
    const { decisions, dropped, lastSeq } = await readNewDecisions(store, last, MAX_WAITING)
    counts.dropped += dropped
    last = lastSeq
    for (const decision of decisions) {
      await add(decision)
      if (performance.now() - reportedMs < REPORT_MS) continue
      reportedMs = performance.now()
      report({ ...counts, result: result() })
    }
    report({ ...counts, result: result() })
  }
}

/** Decisions that are read of those before the start of the thread. */
const EARLIER = { rows: 1000, bytes: 8 * 1024 * 1024, withInputs: false }

/** Returns the number of the last decision before a time, by default of the last of all. */
async function lastSeqBefore(
  store: Pick<DecisionReadStore, 'page'>,
  fromMs: number | undefined,
): Promise<number> {
  const { lastSeq } = await readNewDecisions(store, Infinity, 0)
  if (fromMs === undefined) return lastSeq
  const { decisions } = await store.page({ fromMs }, EARLIER)
  return decisions.reduce((last, { seq }) => Math.min(last, seq - 1), lastSeq)
}

/** True for a failed decision of the staged revision that neither comparison shows as an error. */
function hasFailedOnce(
  { outcome, revision }: StoredDecision,
  staged: string,
  answers: Awaited<ReturnType<typeof evaluateBoth>> | NotReplayable,
): boolean {
  if (outcome !== 'error' || revision !== staged) return false
  if (answers === undefined || 'reason' in answers) return true
  return answers.before.outcome !== 'error' && answers.after.outcome !== 'error'
}

/** Returns the staged policies, or the shadow. */
async function loadCompared({ config, staged }: ShadowThreadOptions): Promise<Snapshot> {
  const { shadow, limits } = config.policies
  return staged === undefined
    ? await loadSnapshot(shadow, candidateOptions(config))
    : await unpackSnapshot(staged.policies, hostBuiltins, limits)
}

function droppedNote(dropped: number): string {
  return `The shadow is slower than the decisions arrive: ${dropped} were not evaluated. Lower policies.shadow.sharePercent.`
}
