import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

import { findBundledOpa } from '../src/pdp/opa/bundled-opa.js'
import { benchBodies } from './bodies.js'
import type { BenchBody } from './bodies.js'
import { ask, drive } from './load.js'
import type { LoadResult } from './load.js'
import { printTable } from './report.js'
import type { Comparison, Sample } from './report.js'
import { startBenchServer } from './servers.js'
import type { BenchServer } from './servers.js'

const { values: flags } = parseArgs({
  options: {
    seconds: { type: 'string', default: '8' },
    warmup: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '16' },
    only: { type: 'string' },
    opa: { type: 'string' },
    format: { type: 'string', default: 'text' },
  },
})

const SERVER_CORE = 0
const GENERATOR_CORE = 1
const POLICIES = 'bench/policies'
/** What was answered, by body: the same result of both servers, or the comparison is void. */
const answers = new Set<string>()

/** Both servers in turn, several rounds, the median of each figure: the machine's moods hit both alike. */
async function compare(body: BenchBody, logging: boolean, directory: string): Promise<Comparison> {
  const samples: Record<BenchServer['name'], Sample[]> = { tidegate: [], opa: [] }
  for (let round = 0; round < Number(flags.rounds); round++) {
    for (const server of [tidegate(logging, directory, round), opa(logging)]) {
      samples[server.name].push(await measure(server, body, directory))
      process.stderr.write('.')
    }
  }
  return { body: body.name, logging, tidegate: median(samples.tidegate), opa: median(samples.opa) }
}

async function measure(server: BenchServer, body: BenchBody, directory: string): Promise<Sample> {
  const running = await startBenchServer(server, SERVER_CORE, directory)
  try {
    const load = (seconds: string): Promise<LoadResult> =>
      drive({
        url: server.url,
        body,
        seconds: Number(seconds),
        connections: Number(flags.connections),
        core: GENERATOR_CORE,
        directory,
      })
    answers.add(`${body.name} ${await ask(server.url, body)}`)
    await load(flags.warmup)
    const result = await load(flags.seconds)
    return { ...result, residentMb: running.residentMb(), dropped: await droppedDecisions(server) }
  } finally {
    await running.stop()
  }
}

/** Decisions that the log could not keep: a fast log that loses them is not fast. */
async function droppedDecisions(server: BenchServer): Promise<number> {
  if (server.name === 'opa') return 0
  const text = await (await fetch(`${server.url}/metrics`)).text()
  const counts = [...text.matchAll(/^tidegate_decision_log_dropped_total\{[^}]*\} (\d+)$/gm)].map(
    ([, count]) => Number(count),
  )
  return counts.reduce((sum, count) => sum + count, 0)
}

function tidegate(logging: boolean, directory: string, round: number): BenchServer {
  const data = join(directory, `data-${logging}-${round}`)
  const command = [
    process.execPath,
    'dist/cli.js',
    'serve',
    '--addr',
    '127.0.0.1:18181',
    '--policies',
    POLICIES,
  ]
  return {
    name: 'tidegate',
    url: 'http://127.0.0.1:18181',
    command: [...command, '--data-dir', data, '--log-level', 'error'],
    env: { TIDEGATE_DECISIONS_ENABLED: String(logging) },
  }
}

/** The same OPA that compiled the policies. Its decision log goes to its console, which is a file here. */
function opa(logging: boolean): BenchServer {
  const command = [
    flags.opa ?? findBundledOpa(process.platform, process.arch) ?? 'opa',
    'run',
    '--server',
    '--addr',
    '127.0.0.1:18182',
    '--log-level',
    'error',
  ]
  const log = logging ? ['--set', 'decision_logs.console=true'] : []
  return {
    name: 'opa',
    url: 'http://127.0.0.1:18182',
    command: [...command, ...log, POLICIES],
    env: { GOMAXPROCS: '1' },
  }
}

function median(samples: readonly Sample[]): Sample {
  const middle = (pick: (sample: Sample) => number): number =>
    samples.map(pick).sort((a, b) => a - b)[Math.floor(samples.length / 2)] ?? Number.NaN
  return {
    requestsPerSecond: middle((sample) => sample.requestsPerSecond),
    p50Ms: middle((sample) => sample.p50Ms),
    p99Ms: middle((sample) => sample.p99Ms),
    residentMb: Math.max(...samples.map((sample) => sample.residentMb)),
    failures: samples.reduce((sum, sample) => sum + sample.failures, 0),
    dropped: samples.reduce((sum, sample) => sum + sample.dropped, 0),
  }
}

async function main(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'tidegate-bench-'))
  try {
    const bodies = benchBodies().filter(({ name }) => name.includes(flags.only ?? ''))
    const comparisons: Comparison[] = []
    for (const logging of [false, true]) {
      for (const body of bodies) comparisons.push(await compare(body, logging, directory))
    }
    process.stderr.write('\n')
    if (answers.size !== bodies.length) throw new Error(`the servers differ: ${[...answers].join('; ')}`)
    console.log(flags.format === 'json' ? JSON.stringify(comparisons, null, 2) : printTable(comparisons))
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

await main()
