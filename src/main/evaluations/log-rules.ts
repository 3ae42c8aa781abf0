import type { Config } from '../../config/config.js'
import type { LogRules } from '../../decisions/shipping/shape-event.js'
import { parseJson } from '../../lib/json/text/parse-json.js'
import {
  evaluateDocument,
  hasDocument,
  hostBuiltins,
  newCall,
  packSnapshot,
  parseDataPath,
  planDocument,
  unpackSnapshot,
  type PackedSnapshot,
  type Snapshot,
} from '../../rego/index.js'

/** The policies with rules about the decision log, for another thread. */
export interface LogPolicies {
  readonly snapshot: PackedSnapshot
  readonly limits: Config['policies']['limits']
  /** The paths of the rules. */
  readonly mask: string
  readonly drop: string
}

/** Returns the policies for the threads of sinks; undefined if they have no rule about the log. */
export function logPoliciesOf(snapshot: Snapshot, { decisions, policies }: Config): LogPolicies | undefined {
  const { maskDecision: mask, dropDecision: drop } = decisions
  const isShaped = [mask, drop].some((path) => hasDocument(planDocument(snapshot, parseDataPath(path))))
  return isShaped ? { snapshot: packSnapshot(snapshot), limits: policies.limits, mask, drop } : undefined
}

/**
 * Loads the rules on this thread. They are evaluated within the limits of an evaluation and cannot
 * send requests; failing built-ins end them.
 */
export async function openLogRules({ snapshot, limits, mask, drop }: LogPolicies): Promise<LogRules> {
  const loaded = await unpackSnapshot(snapshot, hostBuiltins, limits)
  const evaluatorOf = (path: string) => {
    const plan = planDocument(loaded, parseDataPath(path))
    return (event: string): string | undefined =>
      evaluateDocument(plan, Buffer.from(event), newCall({ strictBuiltinErrors: true, isVerdict: true }))
  }
  const [masksOf, dropOf] = [evaluatorOf(mask), evaluatorOf(drop)]
  return { masksOf, isDropped: (event) => parseJson(dropOf(event) ?? '') === true }
}
