import { text as textOf } from 'node:stream/consumers'
import { z } from 'zod'

import { packageVersion } from '../../lib/package-root.js'
import type { ServiceClient } from '../session/service-client.js'
import { attempt, bad, ok, warning } from './finding.js'
import type { Finding } from './finding.js'
import { toError } from '../../errors/app-error.js'

const Parts = z.object({
  plugins: z.record(z.string(), z.object({ state: z.string(), message: z.string().optional() })).default({}),
})
const Bundles = z.object({
  bundles: z.object({ revision: z.string().optional(), failure: z.unknown().optional() }).loose(),
})
const Document = z.object({ info: z.object({ version: z.string() }).optional() })
const DENIED = 'pass the token of an auditor with --token-file'

/** Checks a running service: its components, policies, version and metrics. */
export async function checkService(client: ServiceClient): Promise<Finding[]> {
  const reached = await attempt('service', 'check the log of the service', async () => {
    await client.request(z.looseObject({}), { path: '/health' })
    return ok('service', `responds at ${client.shown}`)
  })
  if (reached.state === 'bad') return [reached]
  return [
    reached,
    ...(await checkParts(client)),
    await checkPolicies(client),
    await checkVersion(client),
    ...(await checkMetrics(client)),
  ]
}

async function checkParts(client: ServiceClient): Promise<Finding[]> {
  const findings: Finding[] = []
  const advice =
    'GET /health?plugins shows which component is down; docs/guides/troubleshoot.md says what to do'
  const asked = await attempt('parts', advice, async () => {
    // 500 while a component is not up.
    const request = { path: '/health', query: { plugins: true }, answersWith: 500 }
    const { plugins } = await client.request(Parts, request)
    for (const [name, { state, message = '' }] of Object.entries(plugins)) {
      if (state === 'OK') continue
      const found = state === 'WARN' ? warning : bad
      findings.push(found(`part ${name}`, `${state} ${message}`.trim(), 'check what its message names'))
    }
    const down = findings.filter((finding) => finding.state === 'bad')
    return ok('parts', `${Object.keys(plugins).length - down.length} up`)
  })
  return [asked, ...findings]
}

function checkPolicies(client: ServiceClient): Promise<Finding> {
  return attempt('policies', 'GET /health?bundles', async () => {
    const { bundles } = await client.request(Bundles, { path: '/health', query: { bundles: true } })
    const serving = `revision ${bundles.revision ?? 'unknown'} serves`
    if (bundles.failure === undefined) return ok('policies', serving)
    const advice = 'find the errors with tidegate check'
    return bad('policies', `${serving}; the last reload failed: ${JSON.stringify(bundles.failure)}`, advice)
  })
}

function checkVersion(client: ServiceClient): Promise<Finding> {
  return attempt('version', DENIED, async () => {
    const { info } = await client.request(Document, { path: '/openapi.json', answersWith: 404 })
    if (info === undefined) return ok('version', 'not shown at an address for probes')
    if (info.version === packageVersion()) return ok('version', info.version)
    const text = `the service is ${info.version}, this program is ${packageVersion()}`
    return warning('version', text, "use the command line of the service's release")
  })
}

/** A counter that should be 0. */
interface Expectation {
  readonly metric: string
  /** Only series with this label. */
  readonly label?: string
  readonly means: string
  readonly advice: string
  readonly state: 'warning' | 'bad'
}

const EXPECTATIONS: readonly Expectation[] = [
  {
    metric: 'tidegate_events_total',
    label: 'result="failed"',
    means: 'events not stored',
    advice: 'check the disk, and the component store above',
    state: 'bad',
  },
  {
    metric: 'tidegate_decision_log_dropped_total',
    means: 'decisions not logged',
    advice:
      'see the label reason in /metrics: write_failed means the disk; buffer_full, detail_gave_way and allow_gave_way mean overload',
    state: 'warning',
  },
  {
    metric: 'tidegate_policy_loads_total',
    label: 'result="failure"',
    means: 'failed policy loads',
    advice: 'see the log for the reasons',
    state: 'warning',
  },
  {
    metric: 'tidegate_thread_deaths_total',
    means: 'threads that died',
    advice: 'see the log for the reasons; GET /backgroundWork lists suspended work',
    state: 'warning',
  },
  {
    metric: 'tidegate_outbox_attempts_total',
    label: 'state="given_up"',
    means: 'messages given up',
    advice: 'list them with GET /outbox?state=given_up, then send them again',
    state: 'warning',
  },
  {
    metric: 'tidegate_evaluations_total',
    label: 'outcome="error"',
    means: 'decisions that failed',
    advice: 'tidegate decisions list --outcome error',
    state: 'warning',
  },
]

/** Reports counters that should be 0. */
async function checkMetrics(client: ServiceClient): Promise<Finding[]> {
  let text: string
  try {
    text = await textOf(await client.stream({ path: '/metrics' }))
  } catch (raw) {
    return [warning('counters', toError(raw).message, 'give a token of an auditor with --token-file')]
  }
  const findings = EXPECTATIONS.flatMap(({ metric, label, means, advice, state }) => {
    const sum = sumOf(text, metric, label)
    if (sum === 0) return []
    return [(state === 'bad' ? bad : warning)(metric, `${sum} ${means} since the start`, advice)]
  })
  return findings.length > 0 ? findings : [ok('counters', 'nothing lost or given up since the start')]
}

/** Sums the series of a metric in Prometheus text: `name{label="value"} number`. */
function sumOf(text: string, metric: string, label = ''): number {
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${metric}{`) || line.startsWith(`${metric} `))
    .filter((line) => line.includes(label))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)
}
