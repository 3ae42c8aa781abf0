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
const DENIED = 'give a token of an auditor with --token-file'

/** Looks at a running service: its parts, its policies, its version and what its figures tell. */
export async function checkService(client: ServiceClient): Promise<Finding[]> {
  const reached = await attempt('service', 'its log says why, where it was started', async () => {
    await client.request(z.looseObject({}), { path: '/health' })
    return ok('service', `answers at ${client.shown}`)
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
  const advice = 'GET /health?plugins says which part is down, docs/operating.md what to do'
  const asked = await attempt('parts', advice, async () => {
    // 500 while a part is not up.
    const request = { path: '/health', query: { plugins: true }, answersWith: 500 }
    const { plugins } = await client.request(Parts, request)
    for (const [name, { state, message = '' }] of Object.entries(plugins)) {
      if (state === 'OK') continue
      const found = state === 'WARN' ? warning : bad
      findings.push(found(`part ${name}`, `${state} ${message}`.trim(), 'see what its message names'))
    }
    const down = findings.filter((finding) => finding.state === 'bad')
    return ok('parts', `${Object.keys(plugins).length - down.length} are up`)
  })
  return [asked, ...findings]
}

function checkPolicies(client: ServiceClient): Promise<Finding> {
  return attempt('policies', 'GET /health?bundles', async () => {
    const { bundles } = await client.request(Bundles, { path: '/health', query: { bundles: true } })
    const serving = `revision ${bundles.revision ?? 'unknown'} serves`
    if (bundles.failure === undefined) return ok('policies', serving)
    const advice = 'tidegate check compiles them and says what is wrong'
    return bad(
      'policies',
      `${serving}, what came after it was not loaded: ${JSON.stringify(bundles.failure)}`,
      advice,
    )
  })
}

function checkVersion(client: ServiceClient): Promise<Finding> {
  return attempt('version', DENIED, async () => {
    const { info } = await client.request(Document, { path: '/openapi.json', answersWith: 404 })
    if (info === undefined) return ok('version', 'is not told at an address that serves health alone')
    if (info.version === packageVersion()) return ok('version', info.version)
    const text = `the service is ${info.version}, this program ${packageVersion()}`
    return warning('version', text, 'use the command line that belongs to the service')
  })
}

/** A figure that should be nought, counted since the service started. */
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
    means: 'events that were not written',
    advice: 'look at the disk, and at the part store above',
    state: 'bad',
  },
  {
    metric: 'tidegate_decision_log_dropped_total',
    means: 'decisions that are not in the log',
    advice:
      'the label reason in /metrics tells: write_failed is the disk, buffer_full, detail_gave_way and allow_gave_way too much at once',
    state: 'warning',
  },
  {
    metric: 'tidegate_policy_loads_total',
    label: 'result="failure"',
    means: 'loads of policies that failed',
    advice: 'the log says why of each',
    state: 'warning',
  },
  {
    metric: 'tidegate_thread_deaths_total',
    means: 'threads that ended by themselves',
    advice: 'the log says why; GET /backgroundWork lists what was suspended',
    state: 'warning',
  },
  {
    metric: 'tidegate_outbox_attempts_total',
    label: 'state="given_up"',
    means: 'messages that were given up',
    advice: 'GET /outbox?state=given_up, then send them again',
    state: 'warning',
  },
  {
    metric: 'tidegate_evaluations_total',
    label: 'outcome="error"',
    means: 'decisions that ended in an error',
    advice: 'tidegate decisions list --outcome error',
    state: 'warning',
  },
]

/** What the figures of a service tell that should not be. */
export async function checkMetrics(client: ServiceClient): Promise<Finding[]> {
  let text: string
  try {
    text = await textOf(await client.stream({ path: '/metrics' }))
  } catch (raw) {
    return [warning('figures', toError(raw).message, 'give a token of an auditor with --token-file')]
  }
  const findings = EXPECTATIONS.flatMap(({ metric, label, means, advice, state }) => {
    const sum = sumOf(text, metric, label)
    if (sum === 0) return []
    return [(state === 'bad' ? bad : warning)(metric, `${sum} ${means} since the start`, advice)]
  })
  return findings.length > 0 ? findings : [ok('figures', 'nothing is lost or given up since the start')]
}

/** Prometheus' text: `name{label="value"} number`. */
export function sumOf(text: string, metric: string, label = ''): number {
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${metric}{`) || line.startsWith(`${metric} `))
    .filter((line) => line.includes(label))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)
}
