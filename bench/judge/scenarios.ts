import { createWriteStream, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { once } from 'node:events'

import { readLogTemplate } from '../../src/canary/logs/model/log-template.js'
import { seededNormal, seededRandom } from '../../src/canary/judge/series/seeded-random.js'
import { readMetricTemplate } from '../../src/analysis/runs/definitions/metric-template.js'
import type { PlannedLogs, PlannedMetrics, RunPlan } from '../../src/analysis/runs/definitions/plan.js'

const MINUTE_MS = 60_000
const DAY_MS = 1440 * MINUTE_MS
const START_MS = Date.parse('2026-03-01T00:00:00.000Z')
const METRICS = 200
const POINTS = 1440

/** An interval to measure: its queries and sources. */
export interface Scenario {
  readonly name: string
  /** Log lines on each side. */
  readonly lines: number
  readonly plan: RunPlan
  readonly limits: { readonly maxLines: number; readonly maxBytes: number }
  readonly writeFiles: (directory: string) => Promise<void>
  /** Limit of the peak memory of the process, if any. */
  readonly mostMb?: number | undefined
}

const SIDES = {
  baseline: { scope: { version: 'stable' }, startMs: START_MS },
  canary: { scope: { version: 'canary' }, startMs: START_MS },
}
const MIB = 1024 * 1024
const DEFAULT_LIMITS = { maxLines: 200_000, maxBytes: 64 * MIB }

/** All scenarios: a day of 200 metrics, and logs with this many lines per side. */
export const SCENARIOS: readonly Scenario[] = [
  {
    lines: 0,
    name: `${METRICS} metrics x ${POINTS} points x 2 sides`,
    plan: planOf({ metrics: plannedMetrics() }),
    limits: DEFAULT_LIMITS,
    writeFiles: writeSeries,
  },
  logs('1,000,000 lines a side, limits as configured by default', 1_000_000, DEFAULT_LIMITS),
  logs('500,000 lines a side, all of them', 500_000, { maxLines: 500_000, maxBytes: 256 * MIB }),
  {
    ...logs('1,000,000 lines a side, all of them', 1_000_000, { maxLines: 1_000_000, maxBytes: 256 * MIB }),
    mostMb: 500,
  },
  logs('2,000,000 lines a side, all of them', 2_000_000, { maxLines: 2_000_000, maxBytes: 256 * MIB }),
]

function logs(name: string, lines: number, limits: Scenario['limits']): Scenario {
  const plan = planOf({ logs: plannedLogs() })
  return { name, lines, plan, limits, writeFiles: (directory) => writeLines(directory, lines) }
}

function planOf(parts: { readonly metrics?: PlannedMetrics; readonly logs?: PlannedLogs }): RunPlan {
  const { metrics, logs: planned } = parts
  return {
    ...{ application: 'shop', owner: 'bench', judge: 'default', thresholds: { pass: 90, marginal: 70 } },
    timing: {
      ...{ startedMs: START_MS, lifetimeMs: DAY_MS, intervalMs: DAY_MS, warmUpMs: 0, delayMs: 0 },
      ...{ lookBackMs: undefined, stepMs: MINUTE_MS },
    },
    targets: [{ name: 'shop', metrics, logs: planned }],
  }
}

function plannedMetrics(): PlannedMetrics {
  const metrics = Array.from({ length: METRICS }, (_, index) => ({ name: `\${version}-${index}.csv#value` }))
  const template = readMetricTemplate({ data: { groups: [{ group: 'all', metrics }] } })
  return { source: 'files', aggregate: undefined, ...template, ...SIDES }
}

function plannedLogs(): PlannedLogs {
  const template = readLogTemplate({ templateName: 'plain' })
  return {
    source: 'files',
    query: '${version}.log',
    index: undefined,
    maxLines: undefined,
    template,
    ...SIDES,
  }
}

function writeSeries(directory: string): Promise<void> {
  mkdirSync(directory, { recursive: true })
  const normal = seededNormal(seededRandom(1))
  for (const version of ['stable', 'canary']) {
    for (let metric = 0; metric < METRICS; metric++) {
      const rows = Array.from({ length: POINTS }, (_, minute) => {
        const time = new Date(START_MS + minute * MINUTE_MS).toISOString()
        return `${time},${(100 + 10 * normal()).toFixed(4)}`
      })
      writeFileSync(join(directory, `${version}-${metric}.csv`), `time,value\n${rows.join('\n')}\n`)
    }
  }
  return Promise.resolve()
}

/** Lines of about 100 characters from forty templates, spread over the day. */
async function writeLines(directory: string, count: number): Promise<void> {
  mkdirSync(directory, { recursive: true })
  for (const [version, seed] of [
    ['stable', 1],
    ['canary', 2],
  ] as const) {
    const random = seededRandom(seed)
    const file = createWriteStream(join(directory, `${version}.log`))
    for (let line = 0; line < count; line++) {
      const time = new Date(START_MS + Math.floor((line * DAY_MS) / count)).toISOString()
      const kind = Math.floor(random() * 40)
      const order = Math.floor(random() * 1e9)
      const level = kind === 39 ? 'WARN' : 'INFO'
      const text = `${time} ${level} worker-${kind} order ${order} of step${kind} took ${order % 997} ms in zone eu-${kind % 3} for cart`
      if (!file.write(`${text}\n`)) await once(file, 'drain')
    }
    file.end()
    await once(file, 'finish')
  }
}
