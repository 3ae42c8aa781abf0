import type { Config } from '../../config/config.js'
import { findOpa } from '../../pdp/opa/find-opa.js'
import { ModuleParser } from '../../pdp/requests/module-parser.js'
import { PolicyRequests } from '../../pdp/requests/policy-requests.js'

/** What policies ask of others under a configuration: of the hosts that it names, and of OPA's parser. */
export function openRequests({ policies }: Config, env: NodeJS.ProcessEnv): PolicyRequests {
  const { requests, parseModule, opa } = policies
  const parser = parseModule.enabled
    ? new ModuleParser(parseModule, () => findOpa({ named: opa, env }))
    : undefined
  return new PolicyRequests(requests, { parser })
}

/** Whether policies may ask anybody. */
export function mayAsk({ policies: { requests, parseModule } }: Config): boolean {
  return requests.allowedHosts.length > 0 || parseModule.enabled
}
