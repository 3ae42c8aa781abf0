import type { Denial } from '../evaluation/denial.js'
import { evaluateDocument, planDocument } from '../evaluation/evaluate-document.js'
import { evaluateRuntimePolicy } from '../evaluation/evaluate-runtime-policy.js'
import { evaluateStaticPolicies } from '../evaluation/evaluate-static-policies.js'
import type { PackedCall } from '../builtins/shared/recorded-calls.js'
import type { Snapshot } from '../snapshot/snapshot.js'
import type { EvaluationCall } from '../wasm/evaluation-call.js'

/** One whole question to a snapshot, as plain data: so it can be asked in any thread. */
export type Question =
  | { readonly kind: 'document' | 'runtime'; readonly path: readonly string[] }
  | { readonly kind: 'static'; readonly packages: readonly string[] }

/** The JSON text of a document (undefined when it is not defined), or the reasons against. */
export type Answer = string | undefined | readonly Denial[]

/** In place of an answer: the question has to be asked again once this call's result is known. */
export interface MissingAnswer {
  readonly missing: Omit<PackedCall, 'result'>
}

/** Whether there is no answer yet. */
export function isMissing(answer: Answer | MissingAnswer): answer is MissingAnswer {
  return typeof answer === 'object' && 'missing' in answer
}

/** Answers a question with what the use case of its kind gives, and raises as that does. */
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
