import { utimesSync, readFileSync, readdirSync, readlinkSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { generatePipeline } from '../generate-pipeline.js'
import { ask, postJson } from '../http-client.js'
import { startReceiver } from '../callback-receiver.js'
import { configureMixedWrites } from '../chaos/chaos-service.js'
import { noPromises, writeUntil } from '../chaos/mixed-writes.js'
import { seededRandom } from '../random-bytes.js'
import { startTidegate } from '../tidegate-process.js'
import type { TidegateProcess } from '../tidegate-process.js'
import { makeWorkspace } from '../workspace.js'

/** Resource use of a service at one moment, summed over its processes. */
export interface ProcessUsage {
  readonly residentMb: number
  readonly openFiles: number
  readonly threads: number
  /** All files of its data directory together. */
  readonly dataMb: number
}

const KIB_PER_MB = 1024
const BYTES_PER_MB = 1024 * 1024

/** Reads it from /proc (proc(5)), so on Linux only. */
export function processUsage(pid: number, dataDir: string): ProcessUsage {
  const pids = [pid, ...workersOf(pid)]
  const statuses = pids.map((each) => readFileSync(`/proc/${each}/status`, 'utf8'))
  const figure = (name: string): number => {
    const pattern = new RegExp(`^${name}:\\s+(\\d+)`, 'm')
    return sum(statuses.map((status) => Number(pattern.exec(status)?.[1] ?? Number.NaN)))
  }
  return {
    residentMb: figure('VmRSS') / KIB_PER_MB,
    openFiles: sum(pids.map((each) => readdirSync(`/proc/${each}/fd`).length)),
    threads: figure('Threads'),
    dataMb: sum(readdirSync(dataDir).map((name) => sizeOf(join(dataDir, name)))) / BYTES_PER_MB,
  }
}

/**
 * The processes that a service has started of its own program: of others, compilers, it does not
 * have any for long.
 */
function workersOf(pid: number): number[] {
  const program = readlinkSync(`/proc/${pid}/exe`)
  const started = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean)
  return started.map(Number).filter((each) => programOf(each) === program)
}

function programOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/exe`)
  } catch {
    return undefined
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

/** SQLite removes its -wal and -shm files as it likes. */
function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}

interface SoakOptions {
  readonly seconds: number
  /** Policy decisions a second, the greater part over a pipeline of 20 stages. */
  readonly decisionsPerSecond: number
  /**
   * Callers that write events, gates and reviews one after another, each with a pause between two.
   */
  readonly writers: number
  readonly writerPauseMs?: number
  /** Evaluations per second that use up their whole budget. */
  readonly runawaysPerSecond: number
  /**
   * Whether they run at this second. Always by default. A single one takes half a gigabyte while it
   * runs and a minute longer, which hides growth.
   */
  readonly hasRunaways?: (second: number) => boolean
  readonly reloadEverySeconds: number
  readonly exportEverySeconds?: number
  /** Processes that decide; one where absent. */
  readonly workers?: number | undefined
  readonly sampleEverySeconds: number
  readonly sampled?: (sample: SoakSample) => void
}

export interface SoakSample extends ProcessUsage {
  readonly second: number
}

interface SoakResult {
  readonly samples: readonly SoakSample[]
  readonly decisions: number
  readonly longestDecisionMs: number
  /** Answers that must not be, and broken connections; the first of them in words. */
  readonly failures: readonly string[]
  readonly exitCode: number | null
}

const POLICIES = {
  'policies/static/names.rego': `package static.names

import rego.v1

deny contains sprintf("stage %d has no name", [i]) if {
  some i, stage in input.new.stages
  not stage.name
}
`,
  'policies/static/waits.rego': `package static.waits

import rego.v1

deny contains sprintf("stage '%s' waits too long", [stage.name]) if {
  some stage in input.new.stages
  stage.waitTime > data.waits.seconds
}
`,
  'policies/runaway.rego': `package runaway

import rego.v1

counted := numbers.range(1, 3000)

deny contains "never said" if {
  some a in counted
  some b in counted
  some c in counted
  a + b + c == input.sum
}
`,
  'policies/data.json': JSON.stringify({ waits: { seconds: 3600 } }),
}
const STAGES = 20
/**
 * On a slow machine fewer decisions are sent, so that late ones do not keep this process from
 * reading responses.
 */
const MAX_UNANSWERED = 256
const WRITER_PAUSE_MS = 40
const EXPORT_EVERY_SECONDS = 15

/** Loads a service steadily with mixed requests and samples its resource use. */
export async function soak(options: SoakOptions): Promise<SoakResult> {
  const receiver = await startReceiver()
  const workspace = makeWorkspace(POLICIES)
  const tidegate = await startTidegate({
    workspace,
    args: ['--watch'],
    config: {
      ...configureMixedWrites(workspace),
      ...(options.workers && { server: { workers: options.workers } }),
    },
  })
  const state = { decisions: 0, longestDecisionMs: 0, failures: [] as string[] }
  const endsAt = performance.now() + options.seconds * 1000
  const isOver = (): boolean => performance.now() >= endsAt
  const watched = join(workspace.path, 'policies/static/names.rego')
  const writes = Array.from({ length: options.writers }, (_, writer) =>
    writeSlowly(tidegate.url, receiver.url, writer, options.writerPauseMs ?? WRITER_PAUSE_MS, isOver),
  )
  const samples: SoakSample[] = []
  await Promise.all([
    ...writes,
    decideSteadily(tidegate.url, options.decisionsPerSecond, isOver, state),
    every(1 / options.runawaysPerSecond, isOver, async (second) => {
      if (options.hasRunaways?.(second) !== false) await runAway(tidegate.url, state.failures)
    }),
    every(options.reloadEverySeconds, isOver, () => utimesSync(watched, new Date(), new Date())),
    every(options.exportEverySeconds ?? EXPORT_EVERY_SECONDS, isOver, () =>
      readThings(tidegate.url, state.failures),
    ),
    every(options.sampleEverySeconds, isOver, (second) => {
      const sample = { second, ...processUsage(tidegate.pid, join(workspace.path, 'data')) }
      samples.push(sample)
      options.sampled?.(sample)
    }),
  ])
  const exitCode = await endWell(tidegate, state.failures)
  await receiver.close()
  workspace.remove()
  return { ...state, samples, exitCode }
}

async function endWell(tidegate: TidegateProcess, failures: string[]): Promise<number | null> {
  if (!tidegate.isRunning()) failures.push(`the service ended: ${tidegate.logText().slice(-2000)}`)
  return await tidegate.end('SIGTERM')
}

async function writeSlowly(
  url: string,
  callbackUrl: string,
  seed: number,
  pauseMs: number,
  isOver: () => boolean,
): Promise<void> {
  const random = seededRandom(seed)
  while (!isOver()) {
    let sent = 0
    await writeUntil({ url, callbackUrl, promised: noPromises() }, random, () => sent++ > 0)
    await sleep(pauseMs)
  }
}

async function decideSteadily(
  url: string,
  perSecond: number,
  isOver: () => boolean,
  state: { decisions: number; longestDecisionMs: number; failures: string[] },
): Promise<void> {
  const input = { new: generatePipeline(STAGES) }
  const startedAt = performance.now()
  const running = new Set<Promise<void>>()
  for (let index = 0; !isOver(); index += 1) {
    const dueAt = startedAt + (index * 1000) / perSecond
    const waitMs = dueAt - performance.now()
    if (waitMs > 0) await sleep(waitMs)
    while (running.size >= MAX_UNANSWERED) await Promise.race(running)
    const asked = postJson(url, '/v1/staticPolicy/eval', { input })
      .then(({ status, text }) => {
        state.decisions += 1
        state.longestDecisionMs = Math.max(state.longestDecisionMs, performance.now() - dueAt)
        if (status !== 200 && status !== 401) state.failures.push(`decision: ${status} ${text}`)
      })
      .catch((raw: unknown) => void state.failures.push(`decision: ${String(raw)}`))
      .finally(() => running.delete(asked))
    running.add(asked)
  }
  await Promise.all(running)
}

async function runAway(url: string, failures: string[]): Promise<void> {
  const { status, text } = await postJson(url, '/v1/data/runaway/deny', { input: { sum: -1 } })
  if (status !== 500 && status !== 503) failures.push(`runaway: ${status} ${text}`)
}

async function readThings(url: string, failures: string[]): Promise<void> {
  for (const path of [
    '/audit/export?format=ndjson',
    '/decisions?limit=100',
    '/metrics',
    '/health?plugins&bundles',
  ]) {
    const { status, text } = await ask(url, { path })
    if (status !== 200) failures.push(`${path}: ${status} ${text.slice(0, 200)}`)
  }
}

/**
 * Does something again and again at fixed times, whether or not the last one has ended; waits for
 * all at the end.
 */
async function every(
  seconds: number,
  isOver: () => boolean,
  act: (second: number) => Promise<void> | void,
): Promise<void> {
  const startedAt = performance.now()
  const running: Promise<void>[] = []
  for (let turn = 1; ; turn += 1) {
    const dueMs = turn * seconds * 1000
    while (performance.now() - startedAt < dueMs && !isOver()) await sleep(Math.min(200, seconds * 1000))
    if (isOver()) break
    running.push(Promise.resolve(act(Math.round(dueMs / 1000))).catch(() => undefined))
  }
  await Promise.all(running)
}
