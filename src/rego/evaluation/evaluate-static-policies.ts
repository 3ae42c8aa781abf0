import { askPackages } from './ask-packages.js'
import type { Verdict } from './ask-packages.js'
import type { Snapshot } from '../snapshot/snapshot.js'
import type { EvaluationCall } from '../wasm/evaluation-call.js'

export { selectPackages } from './select-packages.js'

export type StaticVerdict = Verdict

/**
 * What all static policies say of a change: the joined denials of every package. A package whose rules are all
 * undefined for this input, since it reads another kind of document, denies nothing. Raises `evaluation_failed` when
 * one of them cannot be evaluated or is null, and when none of them has a rule that states a verdict.
 */
export function evaluateStaticPolicies(
  snapshot: Snapshot,
  packages: readonly string[],
  input: Uint8Array | undefined,
  call: EvaluationCall,
): StaticVerdict {
  return askPackages(snapshot, packages, input, call, { mustState: false })
}
