import { evaluatePackages } from './evaluate-packages.js'
import type { Verdict } from './evaluate-packages.js'
import type { Snapshot } from '../snapshot/snapshot.js'
import type { EvaluationCall } from '../wasm/evaluation-call.js'

export { packageMatcher, selectPackages } from './select-packages.js'

export type StaticVerdict = Verdict

/**
 * Evaluates all static policies to their joint denials of a change. A package whose rules are all
 * undefined for this input denies nothing, because it is for another kind of document. Raises
 * `evaluation_failed` if one cannot be evaluated or is null, or if none has a verdict rule.
 */
export function evaluateStaticPolicies(
  snapshot: Snapshot,
  packages: readonly string[],
  input: Uint8Array | undefined,
  call: EvaluationCall,
): StaticVerdict {
  return evaluatePackages(snapshot, packages, input, call, { mustState: false })
}
