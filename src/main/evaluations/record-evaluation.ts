import type { DecisionEntry, DecisionLog } from '../../decisions/decision-log.js'
import { AppError, toAppError } from '../../errors/app-error.js'
import {
  findApplication,
  parseDataPath,
  planDocument,
  type DocumentPlan,
  type Policies,
} from '../../rego/index.js'

const NS_PER_MS = 1_000_000

/** A question that the service itself has for its policies. */
export interface OwnQuestion<Answer> extends Pick<DecisionEntry, 'kind' | 'path' | 'caller' | 'decisionId'> {
  readonly input: Buffer
  readonly nowMs: number
  readonly evaluate: (plan: DocumentPlan) => Answer | Promise<Answer>
  /** How the log tells an answer. */
  readonly told: (answer: Answer) => Pick<DecisionEntry, 'outcome' | 'result' | 'packages'>
}

/** Asks the policies that serve now; the decision is recorded like one that was asked for over HTTP. Raises where it cannot be evaluated. */
export async function recordEvaluation<Answer>(
  policies: Policies,
  log: DecisionLog,
  { kind, path, caller, decisionId, input, nowMs, evaluate, told }: OwnQuestion<Answer>,
): Promise<Answer> {
  const startedAt = performance.now()
  const snapshot = policies.current
  const made = await attempt(async () => ({
    answer: await evaluate(planDocument(snapshot, parseDataPath(path))),
  }))
  log.record({
    ...{ decisionId, kind, path, caller, input, timeMs: nowMs, revision: snapshot.revision },
    application: findApplication(input),
    durationNs: Math.round((performance.now() - startedAt) * NS_PER_MS),
    ...(made instanceof AppError ? { outcome: 'error', error: made.message } : told(made.answer)),
  })
  if (made instanceof AppError) throw made
  return made.answer
}

async function attempt<Made>(make: () => Promise<Made>): Promise<Made | AppError> {
  try {
    return await make()
  } catch (raw) {
    return toAppError(raw)
  }
}
