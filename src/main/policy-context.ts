import type { Config } from '../config/config.js'
import type { PolicyContext } from '../http/policy/decision.js'
import { packageVersion } from '../lib/package-root.js'
import { makeTimeOrderedIds } from '../lib/time-ordered-id.js'

/** What the policy operations are given, in every process that decides. */
export function policyContext(
  { decisions, server, policies }: Config,
  parts: Pick<PolicyContext, 'policies' | 'evaluations' | 'decisionLog' | 'readYaml' | 'evaluated'>,
): PolicyContext {
  return {
    ...parts,
    isLogging: decisions.enabled,
    ndBuiltinCacheBytes: decisions.ndBuiltinCacheBytes,
    maxBodyBytes: server.maxBodyBytes,
    staticPackages: policies.staticPackages,
    defaultDecision: policies.defaultDecision.replace(/^\//, ''),
    version: packageVersion(),
    nextDecisionId: makeTimeOrderedIds(),
  }
}
