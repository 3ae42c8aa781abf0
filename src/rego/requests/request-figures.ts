import { isListedHost } from '../../lib/outbound/address-policy.js'

/** How a request of a policy ended: the class of its status, or why there is none. */
export type RequestOutcome = '1xx' | '2xx' | '3xx' | '4xx' | '5xx' | 'failed' | 'refused' | 'timed_out'

/** What the cache had for a request that may be answered from it. */
export type CacheOutcome = 'hit' | 'miss' | 'renewed'

/** How the parsing of a module ended: without a tree where it is none, `refused` at the limits, `cached` where no program was run. */
export type ParseOutcome = 'parsed' | 'no_module' | 'refused' | 'failed' | 'cached'

/** Is told what policies ask of others. */
export interface RequestFigures {
  /** `host` is the entry of `policies.requests.allowedHosts` that lets it be asked, or a word for all others. */
  readonly requested: (host: string, outcome: RequestOutcome, seconds: number) => void
  readonly cached: (outcome: CacheOutcome) => void
  readonly parsed: (outcome: ParseOutcome, seconds: number) => void
}

/** For whom nobody counts. */
export const NO_FIGURES: RequestFigures = {
  requested: () => undefined,
  cached: () => undefined,
  parsed: () => undefined,
}

const NOT_ALLOWED = '(not allowed)'

/** The entry of a list of hosts that has the host of a URL, so that a label has no more values than the list. */
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
