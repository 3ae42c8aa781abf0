import type { Denial } from '../evaluation/denial.js'
import { evaluateDocument, planDocument } from '../evaluation/evaluate-document.js'
import { evaluateRuntimePolicy } from '../evaluation/evaluate-runtime-policy.js'
import { evaluateStaticPolicies } from '../evaluation/evaluate-static-policies.js'
import type { PackedCall } from '../builtins/shared/recorded-calls.js'
import type { Snapshot } from '../snapshot/snapshot.js'
import type { EvaluationCall } from '../wasm/evaluation-call.js'

/** A question to a snapshot, as plain data for any thread. */
export type Question =
  | { readonly kind: 'document' | 'runtime'; readonly path: readonly string[] }
  | { readonly kind: 'static'; readonly packages: readonly string[] }

/** The JSON text of a document (undefined when it is not defined), or the reasons against. */
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
      return evaluateRuntimePolicy(planDocument(snapshot, question.path), input, call)
    case 'static':
      return evaluateStaticPolicies(snapshot, question.packages, input, call).denials
  }
}
