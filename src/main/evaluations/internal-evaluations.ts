import type { DecisionEntry, DecisionLog } from '../../decisions/decision-log.js'
import type { Enforcement } from '../../enforcement/enforcement.js'
import { packagesJson } from '../../enforcement/verdict.js'
import type { Verdict } from '../../enforcement/verdict.js'
import { AppError, toAppError } from '../../errors/app-error.js'
import {
  chooseSnapshot,
  findApplication,
  parseDataPath,
  planDocument,
  textsOf,
  type DocumentPlan,
  type Policies,
  type Evaluations,
} from '../../rego/index.js'
import type { EvaluateRule } from '../../analysis/runs/checks/check.js'
import type { PolicyReasons } from '../../gates/instances/transition.js'
import { timeOrderedId } from '../../lib/time-ordered-id.js'

const NS_PER_MS = 1_000_000

/** An evaluation that the service itself requests. */
interface InternalEvaluation<Answer> extends Pick<DecisionEntry, 'kind' | 'path' | 'caller' | 'decisionId'> {
  readonly input: Buffer
  readonly nowMs: number
  readonly evaluate: (plan: DocumentPlan) => Answer | Promise<Answer>
  /** Converts an answer to the fields of a log entry. */
  readonly logged: (answer: Answer) => Pick<DecisionEntry, 'outcome' | 'result' | 'packages'>
}

/**
 * Evaluates a rule with the current policies and records the decision, as for an HTTP request.
 * Throws if the evaluation fails.
 */
async function recordEvaluation<Answer>(
  policies: Policies,
  log: DecisionLog,
  { kind, path, caller, decisionId, input, nowMs, evaluate, logged }: InternalEvaluation<Answer>,
): Promise<Answer> {
  const startedAt = performance.now()
  const snapshot = chooseSnapshot(policies, input)
  const made = await attempt(async () => ({
    answer: await evaluate(planDocument(snapshot, parseDataPath(path))),
  }))
  log.record({
    ...{ decisionId, kind, path, caller, input, timeMs: nowMs, revision: snapshot.revision },
    application: findApplication(input),
    durationNs: Math.round((performance.now() - startedAt) * NS_PER_MS),
    ...(made instanceof AppError ? { outcome: 'error', error: made.message } : logged(made.answer)),
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

/**
 * Returns a function that evaluates the rule of an analysis check as a verdict. An undefined rule
 * is reported as a problem.
 */
export function makeEvaluateRule(
  policies: Policies,
  evaluations: Evaluations,
  { log, now }: { readonly log: DecisionLog; readonly now: () => number },
): EvaluateRule {
  return async (rule, value) => {
    const nowMs = now()
    const input = Buffer.from(JSON.stringify(value))
    try {
      const text = await recordEvaluation(policies, log, {
        ...{ kind: 'data', path: rule, caller: 'analysis', decisionId: timeOrderedId(nowMs), input, nowMs },
        evaluate: (plan) => evaluations.document(plan, input, { nowMs, caller: 'analysis', isVerdict: true }),
        logged: (answer) =>
          answer === undefined
            ? { outcome: 'undefined' }
            : { outcome: 'defined', result: Buffer.from(answer) },
      })
      if (text !== undefined) return { value: JSON.parse(text) as unknown }
      return {
        problem:
          'is undefined: it is misspelt, not loaded, or has no value for this document (give it a default)',
      }
    } catch (raw) {
      return { problem: `could not be evaluated: ${toAppError(raw).message}` }
    }
  }
}

/** Evaluates a policy for a gate instance. Throws if the evaluation fails. */
type EvaluateGatePolicy = (policy: string, input: object, nowMs: number) => Promise<PolicyReasons>

/** The parts of the service that decide for gates. */
export interface GatePolicyParts {
  readonly policies: Policies
  readonly evaluations: Evaluations
  readonly enforcement: Enforcement
  readonly decisionLog: DecisionLog
  /** Counts the warnings of a decision. */
  readonly warned: (warnings: Verdict['warnings']) => void
}

/**
 * Evaluates gate policies with the current policies and records each decision, as for an HTTP
 * request.
 */
export function makeEvaluateGatePolicy(parts: GatePolicyParts): EvaluateGatePolicy {
  const { policies, evaluations, enforcement, decisionLog, warned } = parts
  return async (policy, value, nowMs) => {
    const input = Buffer.from(JSON.stringify(value))
    const verdict = await recordEvaluation(policies, decisionLog, {
      ...{ kind: 'runtime', path: policy, caller: 'gates', decisionId: timeOrderedId(nowMs), input, nowMs },
      evaluate: (plan) => enforcement.runtime(evaluations, plan, input, { nowMs, caller: 'gates' }),
      logged: (found) => ({
        outcome: found.denials.length > 0 ? 'deny' : 'allow',
        result: Buffer.from(JSON.stringify(textsOf(found.denials))),
        packages: packagesJson(found),
      }),
    })
    warned(verdict.warnings)
    return { denials: textsOf(verdict.denials), warnings: textsOf(verdict.warnings) }
  }
}
