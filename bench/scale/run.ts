import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

import { generatePipeline } from '../../test/support/generate-pipeline.js'
import { benchBodies } from '../bodies.js'
import type { BenchBody } from '../bodies.js'
import { ask, drive } from '../load.js'
import type { LoadResult } from '../load.js'
import { opaPeers } from '../opa-programs.js'
import { waitedForSeconds } from '../process-tree.js'
import { startBenchServer } from '../servers.js'
import type { RunningBenchServer } from '../servers.js'
import { floodWithPages } from './pages.js'
import type { AskedPage } from './pages.js'

const { values: flags } = parseArgs({
  options: {
    only: { type: 'string', default: 'connections,bodies,cores,pages' },
    connections: { type: 'string', default: '16,1000,2000' },
    /** Stages of the pipelines that are sent; 38,000 are some 10 MB. */
    stages: { type: 'string', default: '4,40,400,4000,8000,20000,38000' },
    seconds: { type: 'string', default: '5' },
    /** More `opa` programs to measure beside the one in use, as PATH,PATH; those of BENCH_OPA too. */
    opa: { type: 'string', default: '' },
    port: { type: 'string', default: '18310' },
  },
})
const SERVER_CORE = 0
const GENERATOR_CORE = 1
const BOTH_CORES = '0-1'
const FEW_CONNECTIONS = 16
const WARM_UPS = 2
const FLOODS: readonly AskedPage[] = [
  { path: '/decisions?limit=500&inputs=true', callers: 500 },
  { path: '/metrics', callers: 2000 },
]
const MAX_BODY_BYTES = 16 * 1024 * 1024
/** What one body is asked for at the least, and for how many bytes in all. */
const [LEAST_REQUESTS, BYTES_IN_ALL] = [20, 40_000_000]

const temporary = mkdtempSync(join(tmpdir(), 'tidegate-scale-'))
const seconds = Number(flags.seconds)
let port = Number(flags.port)

/** A program to measure: what it is called, and how it is started at an address. */
interface Candidate {
  readonly name: string
  readonly serve: (address: string, policies: string) => readonly string[]
  readonly env: Readonly<Record<string, string>>
}

const own = (workers: number): Candidate => ({
  name: 'tidegate',
  serve: (address, policies) => [
    ...[process.execPath, 'dist/cli.js', 'serve', '--addr', address, '--policies', policies],
    ...['--data-dir', join(temporary, `store-${port}`), '--log-level', 'error'],
  ],
  env: {
    ...{ TIDEGATE_DECISIONS_ENABLED: 'false', TIDEGATE_SERVER_WORKERS: String(workers) },
    TIDEGATE_SERVER_MAX_BODY_BYTES: String(MAX_BODY_BYTES),
  },
})

async function peers(): Promise<Candidate[]> {
  return (await opaPeers(flags.opa)).map(({ name, path }) => ({
    name,
    serve: (address, policies) => [
      path,
      'run',
      '--server',
      '--addr',
      address,
      '--log-level',
      'error',
      policies,
    ],
    env: { GOMAXPROCS: '1' },
  }))
}

/** Starts a program on its cores, with policies, for as long as something is asked of it. */
async function withServer(
  candidate: Candidate,
  core: number | string,
  policies: string,
  use: (server: RunningBenchServer, url: string) => Promise<void>,
): Promise<void> {
  port += 1
  const address = `127.0.0.1:${port}`
  const url = `http://${address}`
  const name = candidate.name === 'tidegate' ? 'tidegate' : 'opa'
  const command = candidate.serve(address, policies)
  const server = await startBenchServer({ name, url, command, env: candidate.env }, core, temporary)
  try {
    await use(server, url)
  } finally {
    await server.stop()
  }
}

/** Small decisions over few connections, many, and a new one each: the server on one core, the generator on the other. */
async function connections(): Promise<void> {
  heading(['server', 'connections', 'req/s', 'of that with 16', 'p50 ms', 'p99 ms', 'failed', 'of its core'])
  const [body] = benchBodies()
  if (body === undefined) return
  for (const candidate of [own(1), ...(await peers())]) {
    await withServer(candidate, SERVER_CORE, 'bench/policies', async (server, url) => {
      const load = { url, body, seconds, core: GENERATOR_CORE, directory: temporary }
      await drive({ ...load, connections: FEW_CONNECTIONS })
      let few = Number.NaN
      for (const count of [...numbers(flags.connections), 'a new one each'] as const) {
        const kind =
          typeof count === 'number' ? { connections: count } : { connections: 16, connectsAnew: true }
        const [cpuBefore, begun] = [server.cpuSeconds(), performance.now()]
        const { requestsPerSecond, p50Ms, p99Ms, failures } = await drive({ ...load, ...kind })
        // Less than all of it: the generator could not ask for more.
        const busy = ((server.cpuSeconds() - cpuBefore) * 1000) / (performance.now() - begun)
        if (count === FEW_CONNECTIONS) few = requestsPerSecond
        const share = `${((requestsPerSecond / few) * 100).toFixed(0)} %`
        row([
          candidate.name,
          count,
          requestsPerSecond.toFixed(0),
          share,
          p50Ms.toFixed(2),
          p99Ms.toFixed(2),
          failures,
          `${(busy * 100).toFixed(0)} %`,
        ])
      }
    })
  }
}

/** CPU a request and a KB, one request after the other, by the size of the body. */
async function bodies(): Promise<void> {
  heading(['server', 'policies', 'stages', 'KB', 'requests', 'CPU ms a request', 'CPU us a KB'])
  const asked = [
    { policies: 'bench/policies', path: '/v1/data/bench/pipeline/deny', member: 'new' },
    { policies: 'policies', path: '/v1/data/static/manual_judgment/deny', member: 'pipeline' },
  ]
  for (const { policies, path, member } of asked) {
    // OPA takes seconds for each of the large ones with the shipped policies.
    const others = policies === 'policies' ? [] : await peers()
    for (const candidate of [own(1), ...others]) {
      await withServer(candidate, SERVER_CORE, policies, async (server, url) => {
        for (const stages of numbers(flags.stages)) {
          const body = JSON.stringify({ input: { [member]: generatePipeline(stages) } })
          row([candidate.name, policies, stages, ...(await costOf(server, url, { name: '', path, body }))])
        }
      })
    }
  }
}

async function costOf(
  server: RunningBenchServer,
  url: string,
  body: BenchBody,
): Promise<(string | number)[]> {
  const requests = Math.max(LEAST_REQUESTS, Math.round(BYTES_IN_ALL / body.body.length))
  for (let warming = 0; warming < LEAST_REQUESTS; warming += 1) await ask(url, body)
  const before = server.cpuSeconds()
  for (let asked = 0; asked < requests; asked += 1) await ask(url, body)
  const ms = ((server.cpuSeconds() - before) * 1000) / requests
  const kb = body.body.length / 1000
  return [kb.toFixed(0), requests, ms.toFixed(2), ((ms * 1000) / kb).toFixed(2)]
}

/** A way to use cores: which core, or range of them, each of the services has, with so many processes. */
interface Arrangement {
  readonly name: string
  readonly services: readonly { readonly among: number | string; readonly workers: number }[]
  /** Each has a core, and its service the one at its place, or the only one. */
  readonly generators: readonly number[]
}

const ALONE = { among: SERVER_CORE, workers: 1 }
/** The last tells what two cores of this machine are worth where nothing is shared but its memory. */
const ARRANGEMENTS: readonly Arrangement[] = [
  { name: 'one', services: [ALONE], generators: [SERVER_CORE] },
  { name: 'two', services: [{ among: BOTH_CORES, workers: 2 }], generators: [SERVER_CORE, GENERATOR_CORE] },
  {
    name: 'two, a service of its own on each',
    services: [ALONE, { among: GENERATOR_CORE, workers: 1 }],
    generators: [SERVER_CORE, GENERATOR_CORE],
  },
]

/** What an arrangement answered. */
interface CoresResult {
  readonly rate: number
  readonly p99Ms: number
  /** CPU microseconds a request, of the services and of the generators. */
  readonly ownUs: number
  readonly generatorUs: number
}

/**
 * One core against two: of either the service has a process for each, and the generator an equal part of it, so that
 * nothing is compared with a core that it did not have.
 */
async function cores(): Promise<void> {
  heading([
    ...['body', 'cores', 'req/s', 'times one core', 'CPU us a request', 'of the generator'],
    ...['times one core without it', 'p99 ms'],
  ])
  for (const body of benchBodies()) {
    let one: CoresResult | undefined
    for (const arrangement of ARRANGEMENTS) {
      const result = await useCores(arrangement, body)
      one ??= result
      row([
        ...[body.name, arrangement.name, result.rate.toFixed(0), (result.rate / one.rate).toFixed(2)],
        ...[result.ownUs.toFixed(1), result.generatorUs.toFixed(1)],
        ((arrangement.generators.length * one.ownUs) / result.ownUs).toFixed(2),
        result.p99Ms.toFixed(2),
      ])
    }
  }
}

async function useCores({ services, generators }: Arrangement, body: BenchBody): Promise<CoresResult> {
  const servers: { server: RunningBenchServer; url: string }[] = []
  let result: CoresResult | undefined
  const begin = async (left: Arrangement['services']): Promise<void> => {
    const [next, ...others] = left
    if (next === undefined) result = await driveAll(servers, generators, body)
    else
      await withServer(own(next.workers), next.among, 'bench/policies', async (server, url) => {
        servers.push({ server, url })
        await begin(others)
      })
  }
  await begin(services)
  if (result === undefined) throw new Error('nothing was measured')
  return result
}

async function driveAll(
  servers: readonly { readonly server: RunningBenchServer; readonly url: string }[],
  generators: readonly number[],
  body: BenchBody,
): Promise<CoresResult> {
  const drives = async (): Promise<LoadResult[]> =>
    await Promise.all(
      generators.map(async (core, place) => {
        const directory = join(temporary, `generator-${core}`)
        mkdirSync(directory, { recursive: true })
        const { url = '' } = servers[place] ?? servers[0] ?? {}
        return await drive({ url, body, seconds, core, directory, connections: FEW_CONNECTIONS })
      }),
    )
  // V8 has optimized what large bodies pass through after some ten thousand of them in each process.
  for (let warming = 0; warming < WARM_UPS; warming += 1) await drives()
  const cpu = (): number => servers.reduce((sum, { server }) => sum + server.cpuSeconds(), 0)
  const [cpuBefore, generatorBefore] = [cpu(), waitedForSeconds()]
  const results = await drives()
  const rate = results.reduce((sum, { requestsPerSecond }) => sum + requestsPerSecond, 0)
  const each = (cpuSeconds: number): number => (cpuSeconds / (rate * seconds)) * 1e6
  return {
    rate,
    p99Ms: Math.max(...results.map(({ p99Ms }) => p99Ms)),
    ownUs: each(cpu() - cpuBefore),
    generatorUs: each(waitedForSeconds() - generatorBefore),
  }
}

function heading(cells: readonly string[]): void {
  row(cells)
  row(cells.map((cell) => '-'.repeat(cell.length)))
}

function row(cells: readonly (string | number)[]): void {
  console.log(`| ${cells.join(' | ')} |`)
}

function numbers(list: string): number[] {
  return list.split(',').filter(Boolean).map(Number)
}

/** Pages of the decision log and the figures asked for by hundreds at once, with one process and two. */
async function pages(): Promise<void> {
  heading([
    'processes',
    'asked',
    'answered',
    'refused',
    'last ms',
    'probe ms',
    'new ms',
    'open ms',
    'peak MB',
  ])
  for (const workers of [1, 2]) {
    for (const asked of FLOODS) {
      const candidate = own(workers)
      const env = { ...candidate.env, TIDEGATE_DECISIONS_ENABLED: 'true' }
      await withServer({ ...candidate, env }, BOTH_CORES, 'bench/policies', async (server, url) => {
        const { answered, refused, peakMb, ...waits } = await floodWithPages(server, url, asked)
        const { lastMs, longestProbeMs, longestNewMs, longestOpenMs } = waits
        const times = [lastMs, longestProbeMs, longestNewMs, longestOpenMs].map((ms) => ms.toFixed(0))
        row([workers, `${asked.callers} ${asked.path}`, answered, refused, ...times, peakMb.toFixed(0)])
      })
    }
  }
}

const PARTS: Readonly<Record<string, () => Promise<void>>> = { connections, bodies, cores, pages }

try {
  for (const part of flags.only.split(',')) await PARTS[part]?.()
} finally {
  rmSync(temporary, { recursive: true, force: true })
}
