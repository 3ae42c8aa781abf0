import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

// The thread that judges intervals is started by its path: this only has it built.
import '../../src/threads/analysis.js'
import { readLogTemplate } from '../../src/analysis/logs/model/log-template.js'
import { readMetricTemplate } from '../../src/analysis/runs/definitions/metric-template.js'
import type { PlannedTarget, RunPlan } from '../../src/analysis/runs/definitions/plan.js'
import { failedInterval } from '../../src/analysis/runs/failed-interval.js'
import { NO_RULES } from '../../src/analysis/runs/checks/check.js'
import { AnalysisSection } from '../../src/config/sections/analysis.js'
import { toError } from '../../src/errors/app-error.js'
import { evaluateIntervalInThread } from '../../src/main/threads/interval-thread.js'
import { HOSTILE_ANSWERS } from './hostile-answers.js'
import type { HostileAnswer } from './hostile-answers.js'

const KB_PER_MB = 1024
/** As many as an interval asks at a time, both sides. */
const METRICS = 4
const MINUTE_MS = 60_000
const DAY_MS = 1440 * MINUTE_MS
const START_MS = Date.parse('2026-03-01T00:00:00.000Z')
/** The default of `analysis.concurrentIntervals`. */
const LOOKS = [1, 4]

/** Each row in processes of its own: the server in this one, the intervals in another, whose memory is what is measured. */
async function main(): Promise<void> {
  const [which, intervals, port] = process.argv.slice(2).map(Number)
  if (port !== undefined) return measure(HOSTILE_ANSWERS[which ?? -1], intervals ?? 1, port)
  console.log(
    '| every query is answered with | intervals at a time | peak MB | s | says |\n| --- | --: | --: | --: | --- |',
  )
  for (const [index, answer] of HOSTILE_ANSWERS.entries()) {
    if (which !== undefined && which !== index) continue
    const server = await serve(answer)
    for (const count of LOOKS) {
      const child = fork(import.meta.filename, [String(index), String(count), String(server.port)])
      const [code, signal] = (await once(child, 'exit')) as [number | null, string | null]
      if (code !== 0) console.log(`| ${answer.name} | ${count} | ended with ${code ?? signal} | | |`)
    }
    server.close()
  }
}

async function serve(answer: HostileAnswer): Promise<{ readonly port: number; readonly close: () => void }> {
  const body = answer.body()
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'application/json' })
    if (answer.isEndless !== true) return void response.end(body)
    const write = (): void => {
      if (!response.destroyed) response.write(body, write)
    }
    write()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = (): void => {
    server.closeAllConnections()
    server.close()
  }
  return { port: (server.address() as AddressInfo).port, close }
}

async function measure(answer: HostileAnswer | undefined, intervals: number, port: number): Promise<void> {
  if (answer === undefined) throw new Error('there is no such answer')
  const analysis = AnalysisSection.parse({
    sources: [{ name: 'hostile', type: answer.type, url: `http://127.0.0.1:${port}` }],
  })
  const startedMs = performance.now()
  const taken = await Promise.all(
    Array.from({ length: intervals }, async (_, runId) => {
      const request = { runId, plan: planOf(answer), interval: 1, seenLogTemplates: [] }
      const interval = evaluateIntervalInThread(
        { analysis },
        request,
        { reportDefect: console.error, askRule: NO_RULES },
        new AbortController().signal,
      )
      return interval.catch((raw: unknown) => failedInterval(request, toError(raw)))
    }),
  )
  const seconds = (performance.now() - startedMs) / 1000
  const peakMb = process.resourceUsage().maxRSS / KB_PER_MB
  const said = taken[0]?.report.reason.slice(0, 100) ?? ''
  console.log(`| ${answer.name} | ${intervals} | ${peakMb.toFixed(0)} | ${seconds.toFixed(1)} | ${said} |`)
}

function planOf({ type }: HostileAnswer): RunPlan {
  const sides = {
    baseline: { scope: { version: 'stable' }, startMs: START_MS },
    canary: { scope: { version: 'canary' }, startMs: START_MS },
  }
  const metrics = Array.from({ length: METRICS }, (_, index) => ({ name: `m${index}` }))
  const target: PlannedTarget =
    type === 'loki'
      ? {
          name: 'shop',
          metrics: undefined,
          logs: {
            ...{ source: 'hostile', query: '{app="shop"}', index: undefined, maxLines: undefined },
            ...{ template: readLogTemplate({ templateName: 'plain' }), ...sides },
          },
        }
      : {
          name: 'shop',
          metrics: {
            ...{ source: 'hostile', aggregate: 'sum' },
            ...readMetricTemplate({ data: { groups: [{ group: 'all', metrics }] } }),
            ...sides,
          },
          logs: undefined,
        }
  return {
    ...{ application: 'shop', owner: 'bench', judge: 'default', thresholds: { pass: 90, marginal: 70 } },
    timing: {
      ...{ startedMs: START_MS, lifetimeMs: DAY_MS, intervalMs: DAY_MS, warmUpMs: 0, delayMs: 0 },
      ...{ lookBackMs: undefined, stepMs: MINUTE_MS },
    },
    targets: [target],
  }
}

await main()
