import {
  closeSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'

import Database from 'better-sqlite3'

import { openServiceStore } from '../../src/store/sqlite/threads/open-service-store.js'
import { SERVICE_OPERATIONS } from '../../test/support/store-operations.js'
import { fillStore } from '../gates/fill-store.js'
import { writePackages } from '../growth/generate.js'
import { startBenchServer } from '../servers.js'
import type { RunningBenchServer } from '../servers.js'
import { runSteadily, sendJson } from '../steady-load.js'
import type { Latencies, Step } from '../steady-load.js'
import { fill, indexAllText } from '../trail/store.js'

const { values: flags } = parseArgs({
  options: {
    only: { type: 'string', default: 'nothing,expiry,retention,storm' },
    /** Instances that expire at once, and records that retention removes at once. */
    instances: { type: 'string', default: '20000' },
    records: { type: 'string', default: '500000' },
    /** Packages of which one file is saved ten times a second. */
    packages: { type: 'string', default: '300' },
    /** Decisions a second, and events a second, meanwhile. */
    decisions: { type: 'string', default: '200' },
    events: { type: 'string', default: '50' },
    /** The longest that one of them is waited for. */
    seconds: { type: 'string', default: '900' },
    port: { type: 'string', default: '18210' },
    /** Where databases are put: below /dev/shm, what the disk takes is left out. */
    directory: { type: 'string', default: tmpdir() },
  },
})
const DAY_MS = 86_400_000
const POLL_MS = 250
const STORM_SECONDS = 10
const SAVE_EVERY_MS = 100
/** As `audit.maxBytes` takes it. */
const LEAST_BOUND = 16 * 1024 * 1024
const WARM_UP = 50
const [FSYNCS, FSYNC_EVERY_MS] = [300, 20]
const CORES = '0-1'
const INPUT = { input: { user: 'ana', roles: ['dev'], action: 'deploy' } }

const temporary = mkdtempSync(join(flags.directory, 'tidegate-upkeep-'))
let port = Number(flags.port)

interface Upkeep {
  readonly name: string
  readonly dataDir: string
  readonly policies: string
  readonly settings?: object
  readonly args?: readonly string[]
  /** Resolves once the work is done. */
  readonly untilDone: (server: RunningBenchServer) => Promise<void>
}

/** Serves a store that has work to do, and asks for decisions and sends events until that is done; prints a row for each. */
async function measure({ name, dataDir, policies, settings, args = [], untilDone }: Upkeep): Promise<void> {
  port += 1
  const url = `http://127.0.0.1:${port}`
  const config = join(temporary, `${name}.json`)
  writeFileSync(
    config,
    JSON.stringify({
      ...{ server: { addr: `127.0.0.1:${port}` }, dataDir, log: { level: 'warn' } },
      ...{ policies: { directories: [policies] }, callbacks: { allowLoopback: true }, ...settings },
    }),
  )
  const command = [process.execPath, 'dist/cli.js', 'serve', '--config', config, ...args]
  const server = await startBenchServer({ name: 'tidegate', url, command, env: {} }, CORES, temporary)
  await warmUp(url)
  const begun = performance.now()
  const cpuBefore = server.cpuSeconds()
  const state = { isDone: false }
  const done = untilDone(server).then(() => {
    state.isDone = true
    return (performance.now() - begun) / 1000
  })
  try {
    const rate = Number(flags.decisions) + Number(flags.events)
    const latencies = await runSteadily(steps(url, state), rate, Number(flags.seconds))
    const doneAfter = state.isDone ? await done : undefined
    print(name, latencies, doneAfter, server.cpuSeconds() - cpuBefore)
  } finally {
    await server.stop()
  }
}

/** The thread that writes starts with the first event, which a service that has been running has behind it. */
async function warmUp(url: string): Promise<void> {
  for (let sent = 0; sent < WARM_UP; sent += 1)
    await sendJson(`${url}/platform/echo`, 'POST', 'ana', event(-1 - sent))
}

function* steps(url: string, state: { readonly isDone: boolean }): Iterable<Step> {
  const every = Math.max(2, Math.round(Number(flags.decisions) / Number(flags.events)) + 1)
  const sending = (path: string, body: object) => async (): Promise<void> => {
    await sendJson(`${url}${path}`, 'POST', 'ana', body)
  }
  for (let index = 0; !state.isDone; index += 1) {
    yield index % every === 0
      ? { kind: 'event', send: sending('/platform/echo', event(index)) }
      : { kind: 'decision', send: sending('/v1/data/upkeep/allow', INPUT) }
  }
}

function event(index: number): object {
  return { eventId: `upkeep-${index}`, name: 'orca:task:complete' }
}

function print(
  name: string,
  latencies: readonly Latencies[],
  doneAfter: number | undefined,
  cpu: number,
): void {
  const took = doneAfter === undefined ? `more than ${flags.seconds}` : doneAfter.toFixed(1)
  for (const { kind, requests, p50Ms, p99Ms, maxMs } of latencies) {
    const times = [p50Ms, p99Ms, maxMs].map((ms) => ms.toFixed(1))
    console.log(`| ${[name, took, cpu.toFixed(1), kind, requests, ...times].join(' | ')} |`)
  }
}

/** Waits until a query of the service's own file gives 0. */
async function untilNone(dataDir: string, query: string): Promise<void> {
  const database = new Database(join(dataDir, 'tidegate.db'), { readonly: true })
  try {
    for (let waited = 0; waited < Number(flags.seconds) * 1000; waited += POLL_MS) {
      if (database.prepare(query).pluck().get() === 0) return
      await sleep(POLL_MS)
    }
  } finally {
    database.close()
  }
}

function writePolicies(): string {
  const directory = join(temporary, `policies-${port}`)
  writePackages(directory, Number(flags.packages))
  writeFileSync(
    join(directory, 'upkeep.rego'),
    'package upkeep\n\nimport rego.v1\n\nallow if "dev" in input.roles\n',
  )
  return directory
}

/** What decisions and events take beside nothing, to compare with. */
async function nothing(): Promise<void> {
  await measure({
    ...{ name: 'nothing', dataDir: join(temporary, 'nothing'), policies: writePolicies() },
    untilDone: () => sleep(STORM_SECONDS * 1000),
  })
}

async function expiry(): Promise<void> {
  const receiver = createServer((request, response) => request.resume().on('end', () => response.end()))
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  const callbackUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
  const dataDir = join(temporary, 'expiry')
  const instances = Number(flags.instances)
  await fillStore({ dataDir, instances, callbackUrl, nowMs: Date.now() - 2 * DAY_MS })
  await measure({
    ...{ name: `${instances} instances expire`, dataDir, policies: writePolicies() },
    untilDone: () =>
      untilNone(dataDir, "select count(*) from gate_instances where state in ('not_activated', 'activated')"),
  })
  receiver.close()
}

/** Most of the trail goes, by the bound of its size. */
async function retention(): Promise<void> {
  const dataDir = join(temporary, 'retention')
  const records = Number(flags.records)
  const store = await openServiceStore({ dataDir, operations: SERVICE_OPERATIONS })
  await fill(store, 0, records, 1)
  // As in a service that has been running: what is measured is removing, not indexing.
  await indexAllText(store)
  await store.close()
  const file = join(dataDir, 'tidegate.db')
  const before = statSync(file).size
  const maxBytes = Math.max(LEAST_BOUND, Math.ceil(before / 10))
  await measure({
    ...{ name: `a trail of ${records} records is cut`, dataDir, policies: writePolicies() },
    settings: { audit: { maxBytes } },
    untilDone: () => untilNone(dataDir, excessQuery(maxBytes)),
  })
  console.log(
    `the file: ${Math.round(before / 1e6)} MB before, ${Math.round(statSync(file).size / 1e6)} MB after`,
  )
}

/** By how much the file is too large; it may be a little, since what is sent meanwhile comes on top. What was removed is to be out of it. */
function excessQuery(maxBytes: number): string {
  return `select max(0, page_count * page_size - ${Math.ceil(maxBytes * 1.1)})
    from pragma_page_count, pragma_page_size`
}

async function storm(): Promise<void> {
  const policies = writePolicies()
  await measure({
    ...{ name: 'a file is saved ten times a second', dataDir: join(temporary, 'storm'), policies },
    args: ['--watch'],
    untilDone: async () => {
      for (let saved = 0; saved < (STORM_SECONDS * 1000) / SAVE_EVERY_MS; saved += 1) {
        const file = join(policies, `team${saved % Number(flags.packages)}`, 'policy.rego')
        utimesSync(file, new Date(), new Date())
        await sleep(SAVE_EVERY_MS)
      }
    },
  })
}

/** How long the disk itself takes to keep 32 KB for good, every 20 ms: what every event waits for. */
async function timeDisk(): Promise<void> {
  const [file, block] = [openSync(join(temporary, 'fsync'), 'w'), Buffer.alloc(32_768, 1)]
  const times: number[] = []
  for (let count = 0; count < FSYNCS; count += 1) {
    const begun = performance.now()
    writeSync(file, block)
    fsyncSync(file)
    times.push(performance.now() - begun)
    await sleep(FSYNC_EVERY_MS)
  }
  closeSync(file)
  const at = (share: number): string =>
    (times.sort((a, b) => a - b)[Math.ceil(times.length * share) - 1] ?? 0).toFixed(1)
  console.log(`the disk itself: p50 ${at(0.5)}, p99 ${at(0.99)}, longest ${at(1)} ms`)
}

const PARTS: Readonly<Record<string, () => Promise<void>>> = { nothing, expiry, retention, storm }

try {
  await timeDisk()
  console.log('| work | done after, s | CPU, s | beside it | requests | p50 ms | p99 ms | max ms |')
  console.log('| ---- | ------------- | ------ | --------- | -------- | ------ | ------ | ------ |')
  for (const part of flags.only.split(',')) await PARTS[part]?.()
} finally {
  rmSync(temporary, { recursive: true, force: true })
}
