import { execFile } from 'node:child_process'
import type { ExecFileException } from 'node:child_process'
import { constants, getPriority, setPriority } from 'node:os'

import { AppError, hasErrorCode } from '../../errors/app-error.js'
import type { OpaProgram } from './find-opa.js'
import { opaEnvironment } from './opa-environment.js'

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
  /** Two minutes and 256 MiB where absent. */
  readonly timeLimitMs?: number
  readonly maxOutputBytes?: number
  /** Ends the program when it is aborted. */
  readonly signal?: AbortSignal
}

/** The codes of errors for what the program was ended. */
export const OPA_OVERRUN = { time: 'opa_takes_too_long', output: 'opa_answers_too_much' } as const

const TIME_LIMIT_MS = 120_000
const MAX_OUTPUT_BYTES = 256 * 1024 * 1024

/**
 * Runs the `opa` program to its end, whatever its exit code. Raises `unavailable` when it cannot be started or does
 * not end within its limits (then with a code of `OPA_OVERRUN`).
 */
export function runOpa(
  program: OpaProgram,
  args: readonly string[],
  options: OpaRunOptions = {},
): Promise<OpaRun> {
  return new Promise((resolve, reject) => {
    const { cwd, timeLimitMs = TIME_LIMIT_MS, maxOutputBytes = MAX_OUTPUT_BYTES } = options
    const { signal = program.signal } = options
    const env = { ...opaEnvironment(), ...options.env }
    const limits = { timeout: timeLimitMs, killSignal: 'SIGKILL', maxBuffer: maxOutputBytes } as const
    const child = execFile(
      program.path,
      [...args],
      { cwd, signal, env, ...limits },
      (error, stdout, stderr) => {
        if (error === null) resolve({ exitCode: 0, stdout, stderr })
        else if (typeof error.code === 'number') resolve({ exitCode: error.code, stdout, stderr })
        else reject(cannotRun(program, args, { error, timeLimitMs }))
      },
    )
    if (program.niceness !== undefined) stepBack(child.pid, program.niceness)
    // A program that ends before it has read everything closes the pipe; its exit code tells the story.
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(options.stdin ?? '')
  })
}

/** The threads that it starts are as low as its first. One that has ended already has no priority. */
function stepBack(pid: number | undefined, niceness: number): void {
  if (pid === undefined) return
  try {
    setPriority(pid, Math.min(getPriority() + niceness, constants.priority.PRIORITY_LOW))
  } catch {
    // It may be gone, or the system may not allow it: then it goes at the pace of others.
  }
}

interface FailedRun {
  readonly error: ExecFileException
  readonly timeLimitMs: number
}

function cannotRun({ path, source }: OpaProgram, args: readonly string[], failed: FailedRun): AppError {
  const { error: cause } = failed
  const message = `run opa ${args[0] ?? ''} (${path}, from ${source}): ${whyFailed(failed)}`
  return new AppError('unavailable', message, { cause, ...overrunCode(cause) })
}

/** What Node.js says of a program that was ended is the whole command line. */
function whyFailed({ error, timeLimitMs }: FailedRun): string {
  if (overrunCode(error).code === OPA_OVERRUN.time) return `it does not end within ${timeLimitMs / 1000} s`
  if (typeof error.signal === 'string') return `it was ended by ${error.signal}`
  if (hasErrorCode(error, 'ENOENT')) return 'it cannot be started: it or what its first line names is missing'
  return error.message
}

function overrunCode(error: ExecFileException): { readonly code?: string } {
  if (hasErrorCode(error, 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER')) return { code: OPA_OVERRUN.output }
  return error.killed === true ? { code: OPA_OVERRUN.time } : {}
}
