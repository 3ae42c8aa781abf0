import { HTTP_SEND, LOOKUP } from '../builtins/http/http-send.js'
import { PARSE_MODULE } from '../builtins/runtime.js'
import type { ParseModuleSettings, RequestSettings } from './request-settings.js'

const PARSER_ADVICE =
  'set policies.parseModule.enabled to true to have modules parsed by the opa program, for texts that policies choose'
const ADVICE = 'add the hosts to policies.requests.allowedHosts'

/**
 * Returns the built-ins that policies may not call under these settings, with advice: those that
 * send requests if no host is allowed, and the module parser unless enabled.
 */
export function refusedRequests(settings: {
  readonly requests: Pick<RequestSettings, 'allowedHosts'>
  readonly parseModule: Pick<ParseModuleSettings, 'enabled'>
}): Readonly<Record<string, string>> {
  const { requests, parseModule } = settings
  return {
    ...(requests.allowedHosts.length === 0 && { [HTTP_SEND]: ADVICE, [LOOKUP]: ADVICE }),
    ...(!parseModule.enabled && { [PARSE_MODULE]: PARSER_ADVICE }),
  }
}
