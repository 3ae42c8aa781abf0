import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'

import { drive } from '../load.js'
import { startBenchServer } from '../servers.js'
import { BENCH_GATE, approveInstances, fillStore, triggerBody } from './fill-store.js'
import { runSteadily, sendJson } from '../steady-load.js'
import type { Latencies, Step } from '../steady-load.js'

const { values: flags } = parseArgs({
  options: {
    seconds: { type: 'string', default: '20' },
    sizes: { type: 'string', default: '1000,100000' },
    rate: { type: 'string', default: '200' },
    callbacks: { type: 'string', default: '1000' },
  },
})

const SERVER_CORE = 0
const GENERATOR_CORE = 1
const PORT = 18_187
const URL = `http://127.0.0.1:${PORT}`
const CONNECTIONS = 16
const PATIENCE_MS = 60_000
const STATUSES_OF = 900
/** A program that has just been started is slow until its functions are compiled: a request takes 5 ms of a core in place of 2. */
const WARM_SECONDS = 2

interface Figures {
  readonly instances: number
  readonly latencies: readonly Latencies[]
  /** CPU time of one request of the steady load, in milliseconds. */
  readonly cpuMs: number
  readonly statusPerSecond: number
  readonly callbackSeconds: number
  readonly residentMb: number
}

/** All figures for a file with this many instances. */
async function measure(instances: number, directory: string): Promise<Figures> {
  const receiver = await countCallbacks()
  const dataDir = join(directory, `data-${instances}`)
  const callbacks = Number(flags.callbacks)
  await mkdir(dataDir)
  await fillStore({ dataDir, instances, callbackUrl: receiver.url })
  const command = await serveCommand(directory, dataDir)
  const start = () =>
    startBenchServer({ name: 'tidegate', url: URL, command, env: {} }, SERVER_CORE, directory)
  // A file that has just been filled is indexed for searches first; a service has that behind it.
  const indexing = await start()
  await indexing.idle()
  await indexing.stop()
  await approveInstances(dataDir, callbacks)
  const service = await start()
  try {
    const lastAt = await receiver.until(callbacks)
    const callbackSeconds = (lastAt - receiver.firstAt()) / 1000
    await service.idle()
    const rate = Number(flags.rate)
    const first = await runSteadily(endlessSteps('first', receiver.url), rate, WARM_SECONDS)
    const cpuBefore = service.cpuSeconds()
    const steady = await runSteadily(endlessSteps('bench', receiver.url), rate, Number(flags.seconds))
    const latencies = [...steady, ...first.map((each) => ({ ...each, kind: `first ${each.kind}` }))]
    const answered = steady.reduce((sum, { requests }) => sum + requests, 0)
    const cpuMs = ((service.cpuSeconds() - cpuBefore) * 1000) / answered
    const { requestsPerSecond: statusPerSecond } = await drive({
      url: URL,
      body: { path: '/approvalGateInstances/1/status' },
      seconds: Number(flags.seconds) / 2,
      connections: CONNECTIONS,
      core: GENERATOR_CORE,
      directory,
    })
    return { instances, latencies, cpuMs, statusPerSecond, callbackSeconds, residentMb: service.residentMb() }
  } finally {
    await service.stop()
    receiver.server.close()
  }
}

/** Trigger, status, review and again; each execution is triggered, asked after and approved. */
function* endlessSteps(name: string, callbackUrl: string): Iterable<Step> {
  for (let index = 0; ; index++) {
    const state: { id?: Promise<number> } = {}
    yield {
      kind: 'trigger',
      send: async () => {
        const body = triggerBody(`${name}-${index}`, callbackUrl)
        const answer = sendJson(`${URL}/approvalGates/${BENCH_GATE.id}/trigger`, 'POST', 'ana', body)
        state.id = answer.then((text) => (JSON.parse(text) as { id: number }).id)
        await answer
      },
    }
    // Of another instance than the two beside it, so that no step waits for an earlier one.
    const asked = (index % STATUSES_OF) + 1
    yield {
      kind: 'status',
      send: async () => {
        await sendJson(`${URL}/approvalGateInstances/${asked}/status`, 'GET', 'ana')
      },
    }
    yield {
      kind: 'review',
      send: async () => {
        const id = await state.id
        const review = { action: 'approve', comment: 'looks good' }
        await sendJson(`${URL}/approvalGateInstances/${id ?? 0}/review`, 'PUT', 'bo', review)
      },
    }
  }
}

async function serveCommand(directory: string, dataDir: string): Promise<string[]> {
  const config = join(directory, 'tidegate.json')
  const settings = {
    server: { addr: `127.0.0.1:${PORT}` },
    dataDir,
    policies: { directories: ['bench/policies'] },
    callbacks: { allowLoopback: true, perReceiver: 8 },
    gates: { definitions: [BENCH_GATE] },
    log: { level: 'warn' },
  }
  await writeFile(config, JSON.stringify(settings))
  return [process.execPath, 'dist/cli.js', 'serve', '--config', config]
}

interface CountingReceiver {
  readonly server: Server
  readonly url: string
  readonly firstAt: () => number
  /** When so many had arrived. */
  readonly until: (count: number) => Promise<number>
}

async function countCallbacks(): Promise<CountingReceiver> {
  const arrivals: number[] = []
  const server = createServer((request, response) => {
    arrivals.push(performance.now())
    request.resume().on('end', () => response.end())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    server,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    firstAt: () => arrivals[0] ?? 0,
    until: async (count) => {
      for (let waited = 0; arrivals.length < count; waited += 10) {
        if (waited > PATIENCE_MS) throw new Error(`${arrivals.length} of ${count} callbacks came`)
        await sleep(10)
      }
      return arrivals[count - 1] ?? 0
    },
  }
}

function report(all: readonly Figures[]): string {
  const lines = [
    '| instances | operation | requests | p50 ms | p99 ms | max ms |',
    '| --------- | --------- | -------- | ------ | ------ | ------ |',
    ...all.flatMap(({ instances, latencies }) =>
      latencies.map(
        ({ kind, requests, p50Ms, p99Ms, maxMs }) =>
          `| ${[instances, kind, requests, ...[p50Ms, p99Ms, maxMs].map((ms) => ms.toFixed(2))].join(' | ')} |`,
      ),
    ),
    '',
    `| instances | CPU ms per request | statuses/s | ${flags.callbacks} callbacks s | MB |`,
    '| --------- | ------------------ | ---------- | ---------------- | -- |',
    ...all.map(
      ({ instances, cpuMs, statusPerSecond, callbackSeconds, residentMb }) =>
        `| ${[instances, cpuMs.toFixed(2), Math.round(statusPerSecond), callbackSeconds.toFixed(2), Math.round(residentMb)].join(' | ')} |`,
    ),
  ]
  return `${lines.join('\n')}\n`
}

const directory = await mkdtemp(join(tmpdir(), 'tidegate-bench-gates-'))
try {
  const all: Figures[] = []
  for (const size of flags.sizes.split(',')) all.push(await measure(Number(size), directory))
  process.stdout.write(report(all))
} finally {
  await rm(directory, { recursive: true, force: true })
}
