import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

// The thread that judges intervals is started by its path, so this import only makes the build
// include it.
import '../../src/threads/analysis.js'
import { failedInterval } from '../../src/analysis/runs/failed-interval.js'
import { NO_RULES } from '../../src/analysis/runs/checks/check.js'
import { AnalysisSection } from '../../src/config/sections/analysis.js'
import { toError } from '../../src/errors/app-error.js'
import { evaluateIntervalInThread } from '../../src/main/threads/interval-thread.js'
import { withFolder } from '../lib/servers.js'
import { SCENARIOS } from './scenarios.js'
import type { Scenario } from './scenarios.js'

const MB = 1024 * 1024
const KB_PER_MB = 1024
const MEASURED = 'BENCH_INTERVAL'

type Row = (...cells: (string | number)[]) => void

/**
 * Duration of one interval, from the start of its thread until its report and packed data are
 * returned.
 */
export const INTERVAL_COLUMNS = 'interval | s | CPU s | peak MB | kept MB | verdict | says'

/** Measures each scenario in a separate process, so that memory is measured separately. */
export async function measureIntervals(largest: number, row: Row): Promise<void> {
  for (const [index, { name, lines, mostMb = Infinity }] of SCENARIOS.entries()) {
    if (lines > largest) continue
    const child = fork(import.meta.filename, { env: { ...process.env, [MEASURED]: String(index) } })
    const [[measurements], [code]] = (await Promise.all([once(child, 'message'), once(child, 'exit')])) as [
      [(string | number)[]],
      [number],
    ]
    row(name, ...measurements)
    if (code === 0 && Number(measurements[2]) < mostMb) continue
    console.error(`MISSED: exit code ${code}, or more than ${mostMb} MB`)
    process.exitCode = 1
  }
}

async function evaluate({ plan, limits }: Scenario, directory: string): Promise<(string | number)[]> {
  const sources = [{ name: 'files', type: 'file', directory, ...limits }]
  const analysis = AnalysisSection.parse({ sources })
  const request = { runId: 1, plan, interval: 1, seenLogTemplates: [] }
  const [startedMs, startedCpu] = [performance.now(), process.cpuUsage()]
  const { report, data, lines } = await evaluateIntervalInThread(
    { analysis },
    request,
    { reportDefect: console.error, askRule: NO_RULES },
    new AbortController().signal,
  ).catch((raw: unknown) => failedInterval(request, toError(raw)))
  const { user, system } = process.cpuUsage(startedCpu)
  const seconds = (performance.now() - startedMs) / 1000
  const peakMb = process.resourceUsage().maxRSS / KB_PER_MB
  return [
    seconds,
    (user + system) / 1e6,
    peakMb,
    (data.length + lines.length) / MB,
    report.verdict,
    report.reason.slice(0, 100),
  ]
}

const measured = SCENARIOS[Number(process.env[MEASURED])]
if (measured !== undefined) {
  await withFolder(async (directory) => {
    const folder = join(directory, 'files')
    await measured.writeFiles(folder)
    process.send?.(await evaluate(measured, folder))
  })
}
