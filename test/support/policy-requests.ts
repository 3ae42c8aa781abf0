import { findOpa } from '../../src/rego/opa/find-opa.js'
import { ModuleParser } from '../../src/rego/requests/module-parser.js'
import { PolicyRequests } from '../../src/rego/requests/policy-requests.js'
import type { PolicyRequestsParts } from '../../src/rego/requests/policy-requests.js'
import type { RequestMetrics } from '../../src/rego/requests/request-metrics.js'
import type { ParseModuleSettings, RequestSettings } from '../../src/rego/requests/request-settings.js'

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
export function loopbackRequests(
  settings: Partial<RequestSettings> = {},
  parts: PolicyRequestsParts = {},
): PolicyRequests {
  return new PolicyRequests({ ...LOOPBACK_REQUESTS, ...settings }, parts)
}

/** Parses modules with a real program, the one that `opa` names. */
export function testParser(
  settings: Partial<ParseModuleSettings> = {},
  opa: () => ReturnType<typeof findOpa> = () => findOpa({ env: process.env }),
  metrics?: Pick<RequestMetrics, 'parsed'>,
): ModuleParser {
  const usual = {
    ...{ enabled: true, timeoutSeconds: 20, maxTextBytes: 65_536, maxAnswerBytes: 4_194_304 },
    ...{ programs: 1, queueLength: 32, cacheBytes: 1_048_576 },
  }
  return new ModuleParser({ ...usual, ...settings }, opa, metrics)
}
