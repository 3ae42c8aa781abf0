import { Counter, Histogram } from 'prom-client'
import type { Registry } from 'prom-client'

import type { RequestMetrics } from '../../rego/index.js'

const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Adds what policies ask of others to the figures; returns who is to be told of it. */
export function makeRequestMetrics(registry: Registry): RequestMetrics {
  const registers = [registry]
  const requests = new Counter({
    name: 'tidegate_policy_requests_total',
    help: 'Requests that policies made (http.send), by the entry of policies.requests.allowedHosts and by how they ended: the class of the status, failed, timed_out, or refused (not allowed, too large).',
    labelNames: ['host', 'outcome'],
    registers,
  })
  const durations = new Histogram({
    name: 'tidegate_policy_request_duration_seconds',
    help: 'How long such requests took.',
    labelNames: ['host'],
    buckets: BUCKETS,
    registers,
  })
  const cache = new Counter({
    name: 'tidegate_policy_request_cache_total',
    help: 'Calls of http.send that may be answered from the cache: hit, miss, or renewed since the server said that it still holds.',
    labelNames: ['outcome'],
    registers,
  })
  const modules = new Counter({
    name: 'tidegate_policy_modules_parsed_total',
    help: 'Modules that policies had parsed (rego.parse_module), by how that ended: parsed, no_module, refused (at a limit), failed, or cached.',
    labelNames: ['outcome'],
    registers,
  })
  const parsing = new Histogram({
    name: 'tidegate_policy_module_parse_duration_seconds',
    help: 'How long the opa program took to parse a module.',
    buckets: BUCKETS,
    registers,
  })
  return {
    requested: (host, outcome, seconds) => {
      requests.inc({ host, outcome })
      durations.observe({ host }, seconds)
    },
    cached: (outcome) => cache.inc({ outcome }),
    parsed: (outcome, seconds) => {
      modules.inc({ outcome })
      if (outcome !== 'cached') parsing.observe(seconds)
    },
  }
}
