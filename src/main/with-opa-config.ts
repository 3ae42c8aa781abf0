import type { Config } from '../config/config.js'
import type { OpaConfig } from '../distribution/opa-config/read-opa-config.js'
import type { PolicySource } from '../distribution/policy-source.js'
import type { Discovery } from './open-discovery.js'
import type { Logger } from '../lib/logger.js'

/** A configuration, with the parts that the named configuration of OPA replaces. */
interface WithOpa {
  readonly config: Config
  /** Undefined if none is named. */
  readonly opa: OpaConfig | undefined
  readonly discovery?: PolicySource | undefined
}

/**
 * Reads the configuration of OPA, if one is named, and its discovery bundle, and applies
 * the paths of its rules. Throws `invalid` with every problem, and `unavailable` without a first
 * discovery bundle.
 */
export async function withOpaConfig(config: Config, logger: Logger, discovery: Discovery): Promise<WithOpa> {
  const file = config.policies.opaConfig
  if (file === undefined) return { config, opa: undefined }
  const { readOpaConfig } = await import('../distribution/opa-config/read-opa-config.js')
  const read = (discovered?: unknown): OpaConfig => readOpaConfig(file, process.env, discovered)
  const opa = await discovery.complete(config, read(), read)
  if (opa.unsupported.length > 0)
    logger.warn({ file, members: opa.unsupported }, 'members of the OPA configuration that have no effect')
  return { config: withRules(config, opa), opa, discovery: discovery.source }
}

function withRules({ policies, decisions, ...rest }: Config, opa: OpaConfig): Config {
  const { defaultDecision = policies.defaultDecision, authorizationDecision } = opa
  const { maskDecision = decisions.maskDecision, dropDecision = decisions.dropDecision } = opa
  const isNamed = policies.authorization === 'basic' && authorizationDecision !== undefined
  const authorization = isNamed ? `/${authorizationDecision.replace(/^\//, '')}` : policies.authorization
  return {
    ...rest,
    policies: { ...policies, defaultDecision, authorization },
    decisions: { ...decisions, maskDecision, dropDecision },
  }
}
