import type { Config } from '../config/config.js'
import { authorizationDocument } from '../config/sections/policies.js'
import type { PolicyContext } from '../http/policy/decision.js'
import { REQUEST_TIMEOUTS } from '../http/transport/node/standard-server.js'
import { packageVersion } from '../lib/package-root.js'
import { timeOrderedId } from '../lib/time-ordered-id.js'

/** The context of the policy operations, in every process that decides. */
export function policyContext(
  { decisions, server, policies }: Config,
  parts: Pick<
    PolicyContext,
    | 'explain'
    | 'policies'
    | 'evaluations'
    | 'enforcement'
    | 'decisionLog'
    | 'readYaml'
    | 'evaluated'
    | 'warned'
    | 'inSpan'
  >,
): PolicyContext {
  return {
    ...parts,
    isLogging: decisions.enabled,
    ndBuiltinCacheBytes: decisions.ndBuiltinCacheBytes,
    maxBodyBytes: server.maxBodyBytes,
    maxRequestMs: REQUEST_TIMEOUTS.requestMs,
    staticPackages: policies.staticPackages,
    defaultDecision: policies.defaultDecision.replace(/^\//, ''),
    accessDecision: policies.accessDecision?.replace(/^\//, ''),
    authorization: authorizationDocument(policies),
    version: packageVersion(),
    nextDecisionId: timeOrderedId,
  }
}
