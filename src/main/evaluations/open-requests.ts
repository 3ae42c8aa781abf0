import type { Registry } from 'prom-client'

import type { Config } from '../../config/config.js'
import { makeRequestMetrics } from '../../http/metrics/evaluation-metrics.js'
import {
  ModuleParser,
  NO_METRICS,
  PolicyRequests,
  findOpa,
  opaLimits,
  type RequestMetrics,
} from '../../rego/index.js'

/** What policies ask of others under a configuration: of the hosts that it names, and of OPA's parser. */
export function openRequests(
  { policies }: Config,
  env: NodeJS.ProcessEnv,
  metrics: RequestMetrics = NO_METRICS,
): PolicyRequests {
  const { requests, parseModule, opa } = policies
  const parser = parseModule.enabled
    ? new ModuleParser(parseModule, () => findOpa({ named: opa, env, limits: opaLimits(policies) }), metrics)
    : undefined
  return new PolicyRequests(requests, { parser, metrics })
}

/** The same for a service that counts what is asked; undefined where policies may ask nobody. */
export function openServedRequests(config: Config, registry: Registry): PolicyRequests | undefined {
  return mayAsk(config) ? openRequests(config, process.env, makeRequestMetrics(registry)) : undefined
}

function mayAsk({ policies: { requests, parseModule } }: Config): boolean {
  return requests.allowedHosts.length > 0 || parseModule.enabled
}
