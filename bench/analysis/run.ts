import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

// The thread that judges intervals is started by its path: this only has it built.
import '../../src/threads/analysis.js'
import { failedInterval } from '../../src/analysis/runs/failed-interval.js'
import { NO_RULES } from '../../src/analysis/runs/checks/check.js'
import { AnalysisSection } from '../../src/config/sections/analysis.js'
import { toError } from '../../src/errors/app-error.js'
import { evaluateIntervalInThread } from '../../src/main/threads/interval-thread.js'
import { SCENARIOS } from './scenarios.js'
import type { Scenario } from './scenarios.js'

const MB = 1024 * 1024
const KB_PER_MB = 1024

/** What one interval took, from its start until its report and its packed data are back. */
interface Figures {
  readonly seconds: number
  /** Of all threads, which other load disturbs less. */
  readonly cpuSeconds: number
  /** The most that the whole process had, the program itself included. */
  readonly peakMb: number
  readonly keptMb: number
  readonly score: string
  readonly said: string
}

/** Each scenario runs in a process of its own, so that its memory is its own; one alone where its number is given. */
async function main(): Promise<void> {
  const asked = process.argv[2]
  if (asked !== undefined) return measure(SCENARIOS[Number(asked)])
  console.log(line(['look', 's', 'CPU s', 'peak MB', 'kept MB', 'score', 'says']))
  console.log(line(['---', '--:', '--:', '--:', '--:', '--:', '---']))
  for (const index of SCENARIOS.keys()) {
    const [code] = (await once(fork(import.meta.filename, [String(index)]), 'exit')) as [number]
    if (code !== 0) process.exitCode = 1
  }
}

async function measure(scenario: Scenario | undefined): Promise<void> {
  if (scenario === undefined) throw new Error('there is no such scenario')
  const directory = mkdtempSync(join(tmpdir(), 'tidegate-bench-'))
  try {
    await scenario.writeFiles(directory)
    const { seconds, cpuSeconds, peakMb, keptMb, score, said } = await evaluate(scenario, directory)
    const cells = [
      seconds.toFixed(1),
      cpuSeconds.toFixed(1),
      peakMb.toFixed(0),
      keptMb.toFixed(1),
      score,
      said,
    ]
    console.log(line([scenario.name, ...cells]))
    if (scenario.mostMb === undefined || peakMb < scenario.mostMb) return
    console.log(`MISSED: more than ${scenario.mostMb} MB`)
    process.exitCode = 1
  } finally {
    rmSync(directory, { recursive: true })
  }
}

async function evaluate({ plan, limits }: Scenario, directory: string): Promise<Figures> {
  const sources = [{ name: 'files', type: 'file', directory, ...limits }]
  const analysis = AnalysisSection.parse({ sources })
  const request = { runId: 1, plan, interval: 1, seenLogTemplates: [] }
  const startedMs = performance.now()
  const startedCpu = process.cpuUsage()
  const { report, data, lines } = await evaluateIntervalInThread(
    { analysis },
    request,
    { reportDefect: console.error, askRule: NO_RULES },
    new AbortController().signal,
  ).catch((raw: unknown) => failedInterval(request, toError(raw)))
  const { user, system } = process.cpuUsage(startedCpu)
  return {
    cpuSeconds: (user + system) / 1e6,
    seconds: (performance.now() - startedMs) / 1000,
    peakMb: process.resourceUsage().maxRSS / KB_PER_MB,
    keptMb: (data.length + lines.length) / MB,
    score: `${report.score} ${report.verdict}`,
    said: report.reason.slice(0, 160),
  }
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`
}

await main()
