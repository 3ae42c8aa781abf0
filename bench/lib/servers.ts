import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { findOpa } from '../../src/rego/opa/find-opa.js'
import { opaRelease } from '../../src/rego/opa/opa-release.js'
import { freePort } from '../../test/support/free-port.js'
import { partsOf } from './report.js'

/** A running server. */
export interface Server {
  readonly url: string
  readonly pid: number
  /**
   * Memory of its main process in MB: current, and peak since the start or the last `resetPeak`.
   */
  readonly residentMb: () => number
  readonly peakMb: () => number
  readonly resetPeak: () => void
  /** CPU time of all its processes so far. Other load on the machine hardly affects it. */
  readonly cpuSeconds: () => number
  /** Resolves when it is idle. */
  readonly idle: () => Promise<void>
  readonly end: (signal?: 'SIGTERM' | 'SIGKILL') => Promise<void>
}

interface Starting {
  readonly command: readonly string[]
  readonly port: number
  /** File for its output. */
  readonly directory: string
  /** The cores that it may use, in the form of `taskset`. All by default. */
  readonly cores?: string | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
  readonly isUp?: ((url: string) => Promise<boolean>) | undefined
}

interface TidegateOptions extends Pick<Starting, 'directory' | 'cores' | 'env' | 'isUp'> {
  /** A folder of Rego. */
  readonly policies?: string
  /** Additional sections of its configuration. */
  readonly config?: Readonly<Record<string, object>>
  readonly args?: readonly string[]
  readonly program?: string
}

export const PROGRAM = 'dist/cli.js'
/** One core for the server, one for its client. */
export const [SERVER_CORE, CALLER_CORE] = ['0', '1']
const START_LIMIT_MS = 300_000
const POLL_MS = 2
/** A server is idle if it uses less than a twentieth of a core for a second. */
const [IDLE_WINDOW_MS, IDLE_SECONDS] = [1000, 0.05]
const TICKS_PER_SECOND = 100
const KB_PER_MB = 1024

/** Starts the built program with its data and log in a directory, and waits until it answers. */
export async function startTidegate(options: TidegateOptions): Promise<Server> {
  const { directory, policies = 'bench/policies', config = {}, args = [], program = PROGRAM } = options
  mkdirSync(directory, { recursive: true })
  const port = await freePort()
  const file = join(directory, 'tidegate.json')
  const whole = {
    ...{ dataDir: join(directory, 'data'), log: { level: 'warn' }, ...config },
    server: { addr: `127.0.0.1:${port}`, ...config['server'] },
    policies: { directories: [policies], ...config['policies'] },
  }
  writeFileSync(file, JSON.stringify(whole))
  return await start({
    ...options,
    port,
    command: [process.execPath, program, 'serve', '--config', file, ...args],
  })
}

/** An OPA program to compare with. */
interface OpaPeer {
  /** For example `OPA 1.20.2`. */
  readonly name: string
  readonly path: string
}

/**
 * The `opa` that compiles policies, and those of a list PATH,PATH and of BENCH_OPA. Missing
 * programs are reported and skipped.
 */
export async function opaPeers(list: string): Promise<OpaPeer[]> {
  const paths = [
    (await findOpa({ env: process.env })).path,
    ...partsOf(list),
    ...partsOf(process.env['BENCH_OPA'] ?? ''),
  ]
  const peers: OpaPeer[] = []
  for (const path of new Set(paths)) {
    if (existsSync(path)) peers.push({ name: `OPA ${await opaRelease({ path, source: '--opa' })}`, path })
    else console.error(`${path} is not there: it is left out`)
  }
  return peers
}

/**
 * Starts `opa run --server` over a folder, with one processor for its threads if it is limited to
 * one core.
 */
export async function startOpa(
  { path }: OpaPeer,
  {
    directory,
    policies,
    cores,
    args = [],
  }: Pick<TidegateOptions, 'directory' | 'cores' | 'args'> & { readonly policies: string },
): Promise<Server> {
  const port = await freePort()
  const serve = [
    path,
    'run',
    '--server',
    '--addr',
    `127.0.0.1:${port}`,
    '--log-level',
    'error',
    ...args,
    policies,
  ]
  return await start({
    directory,
    port,
    cores,
    command: serve,
    env: cores === undefined ? {} : { GOMAXPROCS: '1' },
  })
}

async function start({ command, port, directory, cores, env, isUp = isHealthy }: Starting): Promise<Server> {
  const url = `http://127.0.0.1:${port}`
  const output = openSync(join(directory, 'output.log'), 'a')
  const [program = '', ...args] = cores === undefined ? command : ['taskset', '-c', cores, ...command]
  const child = spawn(program, args, { stdio: ['ignore', output, output], env: { ...process.env, ...env } })
  closeSync(output)
  // taskset becomes the program, so the child's id is that of the server.
  const { pid = 0 } = child
  const begun = performance.now()
  while (!(await isUp(url))) {
    await sleep(POLL_MS)
    if (child.exitCode === null && performance.now() - begun < START_LIMIT_MS) continue
    await end(child, 'SIGKILL')
    throw new Error(`it does not serve: ${readFileSync(join(directory, 'output.log'), 'utf8').slice(-2000)}`)
  }
  return {
    url,
    pid,
    residentMb: () => memoryMb(pid, 'VmRSS'),
    peakMb: () => memoryMb(pid, 'VmHWM'),
    // 5 resets the peak to the current value (proc(5)).
    resetPeak: () => {
      writeFileSync(`/proc/${pid}/clear_refs`, '5')
    },
    cpuSeconds: () => processTree(pid).reduce((sum, each) => sum + cpuSeconds(each, 11), 0),
    idle: () => untilIdle(pid),
    end: (signal = 'SIGTERM') => end(child, signal),
  }
}

async function isHealthy(url: string): Promise<boolean> {
  return await fetch(`${url}/health`).then(
    ({ ok }) => ok,
    () => false,
  )
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill(signal)
  await ended
}

async function untilIdle(pid: number): Promise<void> {
  const used = (): number => processTree(pid).reduce((sum, each) => sum + cpuSeconds(each, 11), 0)
  let now = used()
  for (let before = -Infinity; now - before > IDLE_SECONDS; now = used()) {
    before = now
    await sleep(IDLE_WINDOW_MS)
  }
}

/** A process and its descendants. */
function processTree(root: number): number[] {
  const found = [root]
  for (const pid of found) {
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      const children = readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8')
      found.push(...partsOf(children.replaceAll(' ', ',')).map(Number))
    }
  }
  return found
}

/** CPU time of child processes that this process has waited for. */
export function waitedForSeconds(): number {
  return cpuSeconds('self', 13)
}

/**
 * User and system time of a process and of those it has waited for, from a field of /proc/PID/stat
 * up to the last of them (proc(5); counted after the name in brackets).
 */
function cpuSeconds(pid: number | 'self', from: 11 | 13): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  return fields.slice(from, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_SECOND
}

function memoryMb(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1] ?? Number.NaN) / KB_PER_MB
}

/**
 * Memory of a process and its descendants in MB: resident, and its proportional share of shared
 * memory (proc(5), `smaps_rollup`).
 */
export function treeMemory({ pid }: Server): {
  readonly processes: number
  readonly residentMb: number
  readonly proportionalMb: number
} {
  const texts = processTree(pid).map((each) => readFileSync(`/proc/${each}/smaps_rollup`, 'utf8'))
  const sumMb = (field: string): number =>
    texts.reduce((sum, text) => sum + Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(text)?.[1]), 0) /
    KB_PER_MB
  return { processes: texts.length, residentMb: sumMb('Rss'), proportionalMb: sumMb('Pss') }
}

/** Runs a function with a new folder in BENCH_DIR, which is removed afterwards. */
export async function withFolder(act: (directory: string) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(process.env['BENCH_DIR'] ?? tmpdir(), 'tidegate-bench-'))
  try {
    await act(directory)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
