import type { DecisionLog } from '../../decisions/decision-log.js'
import type { Evaluations, Snapshot } from '../../rego/index.js'

/** What the policy operations are made of; built once by the composition root. */
export interface PolicyContext {
  /** The policies in service. */
  readonly policies: { readonly current: Snapshot }
  readonly evaluations: Evaluations
  readonly decisionLog: DecisionLog
  /** Whether answers in OPA's dialect carry a `decision_id`: they do as soon as decisions are kept. */
  readonly isLogging: boolean
  /** How much is kept of the calls that might give something else another time; 0 keeps none. */
  readonly ndBuiltinCacheBytes: number
  readonly maxBodyBytes: number
  /** A document in YAML as JSON of at most this many bytes, read elsewhere. Raises `invalid`, `too_large` and `unavailable`. */
  readonly readYaml: (text: string, maxBytes: number) => Promise<string>
  /** Package patterns of the static policies. */
  readonly staticPackages: readonly string[]
  /** The path that `POST /` asks, without a leading slash. */
  readonly defaultDecision: string
  readonly version: string
  readonly nextDecisionId: (nowMs: number) => string
  readonly evaluated: (kind: string, outcome: string) => void
}
