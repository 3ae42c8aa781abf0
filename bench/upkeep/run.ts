import {
  closeSync,
  copyFileSync,
  fsyncSync,
  mkdirSync,
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
    only: { type: 'string', default: 'nothing,expiry,retention,storm,all' },
    /** Instances that expire at once, and records that retention removes at once. */
    instances: { type: 'string', default: '20000' },
    records: { type: 'string', default: '500000' },
    /** A `tidegate.db` with so many records, in place of making one. */
    trail: { type: 'string' },
    /** Processes that decide; as many as there are cores where it is not given. */
    workers: { type: 'string' },
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
const POLL_MS = 250
const STORM_SECONDS = 10
const SAVE_EVERY_MS = 100
/** As `audit.maxBytes` takes it. */
const LEAST_BOUND = 16 * 1024 * 1024
const WARM_UP_SECONDS = 5
/** Of which the work begins as that ends: retention so long after the start of the service, and expiry when the clock says so. */
const RETENTION_AFTER_MS = 30_000
/** From the end of filling to when instances are due: a service is started and warm by then. */
const DUE_AFTER_MS = 9000
const [FSYNCS, FSYNC_EVERY_MS] = [300, 20]
const CORES = '0-1'
const INPUT = { input: { user: 'ana', roles: ['dev'], action: 'deploy' } }

const temporary = mkdtempSync(join(flags.directory, 'tidegate-upkeep-'))
let port = Number(flags.port)
/** An event that was sent before would not be kept again. */
let eventsSent = 0

/** Some of the work, told of in rows of its own. */
interface Phase {
  readonly name: string
  /** Resolves once it is done; asked when it begins. */
  readonly untilDone: () => Promise<void>
}

interface Upkeep {
  readonly dataDir: string
  readonly policies: string
  readonly settings?: object
  readonly args?: readonly string[]
  /** When the work begins, on the clock of the machine; requests before are not counted. */
  readonly beginsMs?: number
  readonly phases: readonly Phase[]
}

/** Serves a store that has work to do, and asks for decisions and sends events until that is done; prints a row for each. */
async function measure({ dataDir, policies, settings, args = [], ...work }: Upkeep): Promise<void> {
  port += 1
  const url = `http://127.0.0.1:${port}`
  const config = join(temporary, `${port}.json`)
  const workers = flags.workers === undefined ? {} : { workers: Number(flags.workers) }
  writeFileSync(
    config,
    JSON.stringify({
      ...{ server: { addr: `127.0.0.1:${port}`, ...workers }, dataDir, log: { level: 'warn' } },
      ...{ policies: { directories: [policies] }, callbacks: { allowLoopback: true }, ...settings },
    }),
  )
  const command = [process.execPath, 'dist/cli.js', 'serve', '--config', config, ...args]
  const server = await startBenchServer({ name: 'tidegate', url, command, env: {} }, CORES, temporary)
  try {
    const beginsMs = work.beginsMs ?? Date.now() + WARM_UP_SECONDS * 1000
    await load(url, () => Date.now() >= beginsMs)
    for (const phase of work.phases) await measurePhase(url, server, phase)
  } finally {
    await server.stop()
  }
}

async function measurePhase(
  url: string,
  server: RunningBenchServer,
  { name, untilDone }: Phase,
): Promise<void> {
  const [begun, cpuBefore] = [performance.now(), server.cpuSeconds()]
  let doneAfter: number | undefined
  void untilDone().then(() => (doneAfter = (performance.now() - begun) / 1000))
  const latencies = await load(url, () => doneAfter !== undefined)
  print(name, latencies, doneAfter, server.cpuSeconds() - cpuBefore)
}

/** Sends decisions and events until all is done. */
function load(url: string, isDone: () => boolean): Promise<Latencies[]> {
  const rate = Number(flags.decisions) + Number(flags.events)
  return runSteadily(steps(url, isDone), rate, Number(flags.seconds))
}

function* steps(url: string, isDone: () => boolean): Iterable<Step> {
  const every = Math.max(2, Math.round(Number(flags.decisions) / Number(flags.events)) + 1)
  const sending = (path: string, body: object) => async (): Promise<void> => {
    await sendJson(`${url}${path}`, 'POST', 'ana', body)
  }
  for (let index = 0; !isDone(); index += 1) {
    yield index % every === 0
      ? { kind: 'event', send: sending('/platform/echo', event((eventsSent += 1))) }
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
    ...{ dataDir: join(temporary, 'nothing'), policies: writePolicies() },
    phases: [{ name: 'nothing', untilDone: () => sleep(STORM_SECONDS * 1000) }],
  })
}

const STILL_OPEN = "select count(*) from gate_instances where state in ('not_activated', 'activated')"
const STILL_PENDING = "select count(*) from outbox where state = 'pending'"

/** Has instances of gates wait in a store, each with a callback, which are due all at once; returns when, and what ends the receiver. */
async function fillGates(dataDir: string, dueAfterMs: number): Promise<{ dueMs: number; end: () => void }> {
  const receiver = createServer((request, response) => request.resume().on('end', () => response.end()))
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  const callbackUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
  await fillStore({ dataDir, instances: Number(flags.instances), callbackUrl })
  const dueMs = Date.now() + dueAfterMs
  const database = new Database(join(dataDir, 'tidegate.db'))
  database.prepare('update gate_instances set expires_ms = ?').run(dueMs)
  database.close()
  return { dueMs, end: () => receiver.close() }
}

async function expiry(): Promise<void> {
  const dataDir = join(temporary, 'expiry')
  const { dueMs, end } = await fillGates(dataDir, DUE_AFTER_MS)
  await measure({
    ...{ dataDir, policies: writePolicies(), beginsMs: dueMs },
    phases: [
      { name: `${flags.instances} instances expire`, untilDone: () => untilNone(dataDir, STILL_OPEN) },
      { name: 'their callbacks are sent', untilDone: () => untilNone(dataDir, STILL_PENDING) },
    ],
  })
  end()
}

/** Makes a trail, or takes the one that was named; returns the bound of its size by which nine tenths of it go. */
async function fillTrail(dataDir: string): Promise<{ maxBytes: number; fileBytes: () => number }> {
  const file = join(dataDir, 'tidegate.db')
  mkdirSync(dataDir)
  if (flags.trail !== undefined) copyFileSync(flags.trail, file)
  const store = await openServiceStore({ dataDir, operations: SERVICE_OPERATIONS })
  if (flags.trail === undefined) await fill(store, 0, Number(flags.records), 1)
  // As in a service that has been running: what is measured is removing, not indexing.
  await indexAllText(store)
  await store.close()
  const fileBytes = (): number => statSync(file).size
  return { maxBytes: Math.max(LEAST_BOUND, Math.ceil(fileBytes() / 10)), fileBytes }
}

/** Most of the trail goes, by the bound of its size. */
async function retention(): Promise<void> {
  const dataDir = join(temporary, 'retention')
  const { maxBytes, fileBytes } = await fillTrail(dataDir)
  const before = fileBytes()
  await measure({
    ...{ dataDir, policies: writePolicies(), settings: { audit: { maxBytes } } },
    beginsMs: Date.now() + RETENTION_AFTER_MS,
    phases: [
      {
        name: `a trail of ${flags.records} records is cut`,
        untilDone: () => untilNone(dataDir, excessQuery(maxBytes)),
      },
    ],
  })
  tellOfFile(before, fileBytes())
}

/** All of it at once, until the last of it is done. */
async function all(): Promise<void> {
  const dataDir = join(temporary, 'all')
  const { maxBytes, fileBytes } = await fillTrail(dataDir)
  const { dueMs, end } = await fillGates(dataDir, RETENTION_AFTER_MS + 1000)
  const [before, policies] = [fileBytes(), writePolicies()]
  const state = { isDone: false }
  const untilDone = async (): Promise<void> => {
    const saving = save(policies, () => state.isDone)
    await untilNone(dataDir, STILL_OPEN)
    await untilNone(dataDir, STILL_PENDING)
    await untilNone(dataDir, excessQuery(maxBytes))
    state.isDone = true
    await saving
  }
  await measure({
    ...{ dataDir, policies, args: ['--watch'], settings: { audit: { maxBytes } }, beginsMs: dueMs },
    phases: [{ name: 'all of it at once', untilDone }],
  })
  end()
  tellOfFile(before, fileBytes())
}

function tellOfFile(before: number, after: number): void {
  console.log(`the file: ${Math.round(before / 1e6)} MB before, ${Math.round(after / 1e6)} MB after`)
}

/** By how much the file is too large; it may be a little, since what is sent meanwhile comes on top. What was removed is to be out of it. */
function excessQuery(maxBytes: number): string {
  return `select max(0, page_count * page_size - ${Math.ceil(maxBytes * 1.1)})
    from pragma_page_count, pragma_page_size`
}

async function storm(): Promise<void> {
  const policies = writePolicies()
  await measure({
    ...{ dataDir: join(temporary, 'storm'), policies, args: ['--watch'] },
    phases: [
      {
        name: 'a file is saved ten times a second',
        untilDone: () => save(policies, (saved) => saved >= (STORM_SECONDS * 1000) / SAVE_EVERY_MS),
      },
    ],
  })
}

/** Saves a file of the policies ten times a second. */
async function save(policies: string, isDone: (saved: number) => boolean): Promise<void> {
  for (let saved = 0; !isDone(saved); saved += 1) {
    const file = join(policies, `team${saved % Number(flags.packages)}`, 'policy.rego')
    utimesSync(file, new Date(), new Date())
    await sleep(SAVE_EVERY_MS)
  }
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

const PARTS: Readonly<Record<string, () => Promise<void>>> = { nothing, expiry, retention, storm, all }

try {
  await timeDisk()
  console.log('| work | done after, s | CPU, s | beside it | requests | p50 ms | p99 ms | max ms |')
  console.log('| ---- | ------------- | ------ | --------- | -------- | ------ | ------ | ------ |')
  for (const part of flags.only.split(',')) await PARTS[part]?.()
} finally {
  rmSync(temporary, { recursive: true, force: true })
}
