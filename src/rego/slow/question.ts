import type { Denial } from '../evaluation/denial.js'
import { evaluateAdvice } from '../evaluation/evaluate-advice.js'
import type { AdviceRequest } from '../evaluation/evaluate-advice.js'
import { evaluateDocument, planDocument } from '../evaluation/evaluate-document.js'
import type { DocumentPlan } from '../evaluation/evaluate-document.js'
import { evaluateRuntimePolicy } from '../evaluation/evaluate-runtime-policy.js'
import { evaluateStaticPolicies } from '../evaluation/evaluate-static-policies.js'
import type { PackedCall } from '../builtins/shared/recorded-calls.js'
import type { Snapshot } from '../snapshot/snapshot.js'
import type { EvaluationCall } from '../wasm/evaluation-call.js'

/** A question to a snapshot, as plain data for any thread. */
export type Question =
  | { readonly kind: 'document'; readonly path: readonly string[] }
  | {
      readonly kind: 'runtime'
      readonly path: readonly string[]
      /** The keys of packages to evaluate, if not all at or below the path. */
      readonly packages?: readonly string[] | undefined
    }
  | { readonly kind: 'static'; readonly packages: readonly string[] }
  | ({ readonly kind: 'advice' } & AdviceRequest)

/** The JSON text of a document (undefined if it is undefined), or denials or warnings. */
export type Answer = string | undefined | readonly Denial[]

/** A result that lacks the answer of a call. The evaluation is repeated with it. */
export interface MissingAnswer {
  readonly missing: Omit<PackedCall, 'result'>
}

/** True for a result that lacks the answer of a call. */
export function isMissing(answer: Answer | MissingAnswer): answer is MissingAnswer {
  return typeof answer === 'object' && 'missing' in answer
}

/** Evaluates a question with the use case of its kind. Raises as the use case. */
export function answerQuestion(
  snapshot: Snapshot,
  question: Question,
  input: Uint8Array | undefined,
  call: EvaluationCall,
): Answer {
  switch (question.kind) {
    case 'document':
      return evaluateDocument(planDocument(snapshot, question.path), input, call)
    case 'runtime':
      return evaluateRuntimePolicy(planDocument(snapshot, question.path), input, call, question.packages)
    case 'advice':
      return evaluateAdvice(snapshot, question, input, call)
    case 'static':
      return evaluateStaticPolicies(snapshot, question.packages, input, call).denials
  }
}

/** A question with its snapshot and input. */
export interface EvaluationRequest {
  readonly snapshot: Snapshot
  readonly question: Question
  /** The path of the rule or package to evaluate. */
  readonly evaluated: readonly string[]
  readonly input: Uint8Array | undefined
}

/** Returns the request for a plan. `packages` are those to evaluate, if not all. */
export function requestFor(
  plan: DocumentPlan,
  kind: 'document' | 'runtime',
  input: Uint8Array | undefined,
  packages?: readonly string[],
): EvaluationRequest {
  const { snapshot, path, target } = plan
  const question = kind === 'document' ? { kind, path } : { kind, path, packages }
  return { snapshot, question, evaluated: target?.entrypoint.path ?? path, input }
}

/**
 * Returns the queue key: the evaluated rule or package. Paths below a rule share its key, because
 * there is no limit on their number.
 */
export function evaluationKeyOf({ question, evaluated }: EvaluationRequest): string {
  return `${question.kind} ${evaluated.join('/')}`
}

/**
 * Returns a key of evaluations with a similar duration: the same rule or package, and an input of
 * similar size.
 */
export function pathKeyOf(request: EvaluationRequest): string {
  const sizeClass = (32 - Math.clz32(request.input?.length ?? 0)) >> 1
  return `${evaluationKeyOf(request)} ${sizeClass}`
}
