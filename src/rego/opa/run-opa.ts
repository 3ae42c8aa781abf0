import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { constants, getPriority, setPriority } from 'node:os'
import { readFile } from 'node:fs/promises'

import { AppError, hasErrorCode, toError } from '../../errors/app-error.js'
import { guardGroup, killProcessGroup } from './process-group.js'
import type { OpaProgram } from './find-opa.js'
import { DEFAULT_OPA_LIMITS } from './opa-limits.js'
import type { OpaLimits } from './opa-limits.js'

export interface OpaRun {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

export interface OpaRunOptions {
  readonly cwd?: string
  /** Text for standard input. */
  readonly stdin?: string
  /** In addition to `opaEnvironment`. */
  readonly env?: Readonly<Record<string, string>>
  /** The limit of the program by default. */
  readonly timeLimitMs?: number
  /** 256 MiB by default. */
  readonly maxOutputBytes?: number
  /** Ends the program when aborted. */
  readonly signal?: AbortSignal | undefined
}

/** Error codes for exceeded limits. */
export const OPA_OVERRUN = {
  time: 'opa_takes_too_long',
  memory: 'opa_takes_too_much_memory',
  output: 'opa_answers_too_much',
} as const

/** Returns the limit that a run exceeded; undefined for other errors. */
export function exceededLimit({ code }: AppError): Limit | undefined {
  return LIMITS.find((limit) => OPA_OVERRUN[limit] === code)
}

const MAX_OUTPUT_BYTES = 256 * 1024 * 1024
const MIB = 1024 * 1024

type Limit = keyof typeof OPA_OVERRUN
const LIMITS = ['time', 'memory', 'output'] as const satisfies readonly Limit[]

/** Raised for an exceeded limit. */
class Overrun extends Error {
  readonly limit: Limit

  constructor(limit: Limit) {
    super(OPA_OVERRUN[limit])
    this.limit = limit
  }
}

/**
 * Runs the `opa` program to its end, whatever the exit code, in a process group that ends with this
 * process. Raises `unavailable` if it cannot be started or exceeds a limit (with a code of
 * `OPA_OVERRUN`).
 */
export async function runOpa(
  program: OpaProgram,
  args: readonly string[],
  options: OpaRunOptions = {},
): Promise<OpaRun> {
  const { limits: own = DEFAULT_OPA_LIMITS } = program
  const limits = { ...own, timeMs: options.timeLimitMs ?? own.timeMs }
  let release = (): void => undefined
  try {
    return await runWithin(limits, options, () => {
      const child = start(program.path, args, options, limits)
      release = guardGroup(child.pid)
      if (program.niceness !== undefined) stepBack(child.pid, program.niceness)
      return child
    })
  } catch (raw) {
    throw cannotRun(program, args, raw, limits)
  } finally {
    release()
  }
}

/** Raises an Overrun for an exceeded limit, and other errors that keep the program from ending. */
async function runWithin(
  limits: OpaLimits,
  { stdin = '', signal, maxOutputBytes = MAX_OUTPUT_BYTES }: OpaRunOptions,
  begin: () => ChildProcess,
): Promise<OpaRun> {
  signal?.throwIfAborted()
  const child = begin()
  let reason: unknown
  const end = (why: unknown): void => {
    reason ??= why
    killProcessGroup(child)
  }
  const closing = closed(child)
  const output = collectOutput(child, maxOutputBytes, () => end(new Overrun('output')))
  const timer = setTimeout(() => end(new Overrun('time')), limits.timeMs)
  const memory = watchMemory(child.pid, limits.memoryBytes, () => end(new Overrun('memory')))
  const abort = (): void => end(signal?.reason)
  signal?.addEventListener('abort', abort)
  try {
    // A program that ends early closes the pipe. Its exit code shows the reason.
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(stdin)
    const { code, endedBy } = await closing
    if (reason !== undefined) throw toError(reason)
    if (code === null) throw new Error(`it was ended by ${endedBy ?? 'a signal'}`)
    return { exitCode: code, stdout: output.stdout(), stderr: output.stderr() }
  } finally {
    clearTimeout(timer)
    memory.stop()
    signal?.removeEventListener('abort', abort)
  }
}

function start(
  path: string,
  args: readonly string[],
  { cwd, env }: OpaRunOptions,
  limits: OpaLimits,
): ChildProcess {
  return spawn(path, [...args], {
    cwd,
    env: environmentOf(env, limits),
    stdio: 'pipe',
    // A process group of its own, so that a script's child processes end with it.
    detached: process.platform !== 'win32',
    windowsHide: true,
  })
}

/** Go collects garbage more often near the limit. */
function environmentOf(env: OpaRunOptions['env'], limits: OpaLimits): NodeJS.ProcessEnv {
  const { memoryBytes, cores, memoryGrowthPercent: growth } = limits
  const bounds = {
    ...(growth !== undefined && { GOGC: String(growth) }),
    GOMAXPROCS: String(cores),
    GOMEMLIMIT: `${Math.floor((memoryBytes * 0.9) / MIB)}MiB`,
  }
  return { ...bounds, ...opaEnvironment(), ...env }
}

interface Output {
  readonly stdout: () => string
  readonly stderr: () => string
}

function collectOutput({ stdout, stderr }: ChildProcess, maxBytes: number, isTooMuch: () => void): Output {
  const collect = (stream: ChildProcess['stdout']): (() => string) => {
    const chunks: Buffer[] = []
    let bytes = 0
    stream?.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > maxBytes) isTooMuch()
      else chunks.push(chunk)
    })
    return () => Buffer.concat(chunks).toString()
  }
  return { stdout: collect(stdout), stderr: collect(stderr) }
}

interface Closed {
  readonly code: number | null
  readonly endedBy: NodeJS.Signals | null
}

/** Rejects if the process cannot be started. */
function closed(child: ChildProcess): Promise<Closed> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, endedBy) => resolve({ code, endedBy }))
  })
}

/** Lowers the priority of the process; its threads inherit it. */
function stepBack(pid: number | undefined, niceness: number): void {
  if (pid === undefined) return
  try {
    const priority = Math.min(getPriority() + niceness, constants.priority.PRIORITY_LOW)
    setPriority(pid, priority)
    // Linux may schedule by session. Priorities then count only within one, and each run has its
    // own.
    if (process.platform === 'linux') writeFileSync(`/proc/${pid}/autogroup`, String(priority))
  } catch {
    // The process may have ended, or the system may not allow it. Then it keeps its priority.
  }
}

function cannotRun(
  { path, source }: OpaProgram,
  args: readonly string[],
  raw: unknown,
  limits: OpaLimits,
): AppError {
  const cause = toError(raw)
  const message = `run opa ${args[0] ?? ''} (${path}, from ${source}): ${whyFailed(cause, limits)}`
  const code = cause instanceof Overrun ? { code: OPA_OVERRUN[cause.limit] } : {}
  return new AppError('unavailable', message, { cause, ...code })
}

function whyFailed(cause: Error, { timeMs, memoryBytes }: OpaLimits): string {
  if (hasErrorCode(cause, 'ENOENT')) return 'it cannot be started: it or what its first line names is missing'
  if (!(cause instanceof Overrun)) return cause.message
  switch (cause.limit) {
    case 'time':
      return `it does not end within ${timeMs / 1000} s. Make the policies simpler, or raise policies.compiler.timeoutSeconds`
    case 'memory':
      return `it takes more than ${Math.floor(memoryBytes / MIB)} MiB. Make the policies simpler, or raise policies.compiler.maxMemoryBytes`
    case 'output':
      return 'it prints more than can be read'
  }
}

/** Variables of the Go runtime, and the one that Windows programs require to start. */
const PASSED_ON = ['GOGC', 'GOMEMLIMIT', 'GOMAXPROCS', 'SystemRoot'] as const

/**
 * Returns the environment of `opa`, without secrets of this process, because policies can read it
 * with `opa.runtime()`.
 */
function opaEnvironment(env: NodeJS.ProcessEnv = process.env): Record<string, string> {
  return Object.fromEntries(
    PASSED_ON.flatMap((name) => {
      const value = env[name]
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

/** A program reads about 100 MB in this time. */
const INTERVAL_MS = 50
const RESIDENT = /^VmRSS:\s+(\d+) kB$/m
const KIB = 1024

/**
 * Calls `exceeded` when a process uses more than a number of bytes of memory. Works on Linux only.
 */
function watchMemory(
  pid: number | undefined,
  maxBytes: number,
  exceeded: () => void,
): { readonly stop: () => void } {
  if (pid === undefined || process.platform !== 'linux') return { stop: () => undefined }
  const timer = setInterval(() => {
    void residentBytes(pid).then((bytes) => {
      if (bytes > maxBytes) exceeded()
    })
  }, INTERVAL_MS)
  return { stop: () => clearInterval(timer) }
}

/** 0 for a process that has ended. */
async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return Number(RESIDENT.exec(status)?.[1] ?? 0) * KIB
}
