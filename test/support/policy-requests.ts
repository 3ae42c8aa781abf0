import { PolicyRequests } from '../../src/pdp/requests/policy-requests.js'
import type { RequestSettings } from '../../src/pdp/requests/request-settings.js'

/** Settings under which policies may ask this machine alone. */
export const LOOPBACK_REQUESTS: RequestSettings = {
  allowedHosts: ['127.0.0.1', 'localhost'],
  allowPrivate: false,
  timeoutSeconds: 5,
  maxPerDecision: 16,
  maxTotalSeconds: 10,
  maxResponseBytes: 1_048_576,
  maxWaiting: 200,
  cacheBytes: 1_048_576,
}

/** What policies ask of others under these settings and a few more. */
export function loopbackRequests(settings: Partial<RequestSettings> = {}): PolicyRequests {
  return new PolicyRequests({ ...LOOPBACK_REQUESTS, ...settings })
}
