import { HTTP_SEND, LOOKUP } from '../builtins/http/http-send.js'
import type { RequestSettings } from './request-settings.js'

const ADVICE = 'name the hosts that policies may ask in policies.requests.allowedHosts'

/** The built-ins that policies may not call under these settings, and what to do about it: all that ask others, as long as no host is named. */
export function refusedRequests({
  allowedHosts,
}: Pick<RequestSettings, 'allowedHosts'>): Readonly<Record<string, string>> {
  return allowedHosts.length === 0 ? { [HTTP_SEND]: ADVICE, [LOOKUP]: ADVICE } : {}
}
