import { isListedHost } from '../../lib/outbound/address-policy.js'

/** The outcome of a request: the class of its status, or the reason why there is none. */
export type RequestOutcome = '1xx' | '2xx' | '3xx' | '4xx' | '5xx' | 'failed' | 'refused' | 'timed_out'

/** The result of a cache lookup. */
export type CacheOutcome = 'hit' | 'miss' | 'renewed'

/** The outcome of parsing a module: no tree, `refused` at the limits, `cached` without a run. */
export type ParseOutcome = 'parsed' | 'no_module' | 'refused' | 'failed' | 'cached'

/** Receives measurements of requests. */
export interface RequestMetrics {
  /** `host` is the matching entry of `policies.requests.allowedHosts`, or a word for all others. */
  readonly requested: (host: string, outcome: RequestOutcome, seconds: number) => void
  readonly cached: (outcome: CacheOutcome) => void
  readonly parsed: (outcome: ParseOutcome, seconds: number) => void
}

/** Ignores measurements. */
export const NO_METRICS: RequestMetrics = {
  requested: () => undefined,
  cached: () => undefined,
  parsed: () => undefined,
}

const NOT_ALLOWED = '(not allowed)'

/**
 * Returns the entry of a host list that matches a URL, so that a label has no more values than the
 * list.
 */
export function hostLabel(url: string, allowedHosts: readonly string[]): string {
  const host = URL.canParse(url) ? new URL(url).hostname.replace(/^\[|\]$|\.$/g, '') : ''
  return allowedHosts.find((entry) => isListedHost(host, [entry])) ?? NOT_ALLOWED
}

/** The class of a status. */
export function outcomeOfStatus(status: number): RequestOutcome {
  if (status < 200) return '1xx'
  if (status < 300) return '2xx'
  if (status < 400) return '3xx'
  return status < 500 ? '4xx' : '5xx'
}
