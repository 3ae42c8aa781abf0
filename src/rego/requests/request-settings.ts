/** Limits of `rego.parse_module`. */

import { HTTP_SEND, LOOKUP } from '../builtins/http/http-send.js'
import { PARSE_MODULE } from '../builtins/runtime.js'

const PARSER_ADVICE =
  'set policies.parseModule.enabled to true to have modules parsed by the opa program, for texts that policies choose'

const ADVICE = 'add the hosts to policies.requests.allowedHosts'

/** Limits of `rego.parse_module`. */
export interface ParseModuleSettings {
  readonly enabled: boolean
  /** Timeout of one module. */
  readonly timeoutSeconds: number
  readonly maxTextBytes: number
  readonly maxAnswerBytes: number
  /** Number of concurrent programs and of waiting decisions. */
  readonly programs: number
  readonly queueLength: number
  /** Memory for cached trees. */
  readonly cacheBytes: number
}

/** Limits and allowed hosts of `http.send` and `net.lookup_ip_addr`. */
export interface RequestSettings {
  /**
   * Names, `*.example.org` for all names below one, or addresses; none if empty. Loopback must be
   * listed.
   */
  readonly allowedHosts: readonly string[]
  readonly allowPrivate: boolean
  /** Longest time of a response, whatever the policy sets. */
  readonly timeoutSeconds: number
  /** Number of requests of one decision, including redirects and retries, and their total time. */
  readonly maxPerDecision: number
  readonly maxTotalSeconds: number
  readonly maxResponseBytes: number
  /** Number of decisions that may wait for responses. */
  readonly maxWaiting: number
  /** Memory for cached responses. */
  readonly cacheBytes: number
}

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
