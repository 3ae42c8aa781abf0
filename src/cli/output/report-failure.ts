import { CommanderError } from 'commander'

import { AppError, toError } from '../../errors/app-error.js'
import type { ErrorDetail } from '../../errors/app-error.js'
import { nearestName, suggestion } from '../../lib/text/nearest-name.js'
import { errorAnswer } from '../../http/exchange/error-body.js'
import { EXIT, wrongUse } from '../session/session.js'
import type { ExitCode } from '../session/session.js'
import type { Terminal } from '../session/terminal.js'
import { printable } from './display-width.js'

export interface ReportOptions {
  readonly isJson: boolean
  /** Whether to show where in the program it happened. */
  readonly debug: boolean
}

/**
 * Tells what ended a command: on standard error for people, or as one JSON object in OPA's shape on standard output.
 * Returns the exit code.
 */
export function reportFailure(raw: unknown, terminal: Terminal, options: ReportOptions): ExitCode {
  if (raw instanceof CommanderError && raw.exitCode === 0) return EXIT.fine
  // The help that a command line without any command gets has said everything.
  if (raw instanceof CommanderError && raw.code === 'commander.help') return EXIT.error
  const error = toReportedError(raw)
  if (options.isJson) terminal.out(errorAnswer(error).body)
  else terminal.err(errorText(error))
  if (options.debug) terminal.err(`${stackText(toError(raw))}\n`)
  return EXIT.error
}

/** `tidegate: message`, then one line for each problem behind it. */
export function errorText(error: AppError): string {
  return printable([`tidegate: ${error.message}`, ...error.details.map(detailText), ''].join('\n'))
}

/** `file:row:col: code: message`; a column of 0 is one that is not known. */
export function detailText({ code, message, location }: ErrorDetail): string {
  if (location === undefined) return `${code}: ${message}`
  const { file, row, col } = location
  return `${[file, row, ...(col > 0 ? [col] : [])].join(':')}: ${code}: ${message}`
}

function toReportedError(raw: unknown): AppError {
  if (raw instanceof AppError) return raw
  if (raw instanceof CommanderError) {
    const text = raw.message.replace(/^error: /, '').replace(SUGGESTED, suggestName)
    return wrongUse(suggestChoice(text))
  }
  const limit = systemLimitText(raw)
  if (limit !== undefined) return new AppError('unavailable', limit, { cause: raw })
  return new AppError(
    'internal',
    `${toError(raw).message} (this is a fault of tidegate; --debug shows where)`,
  )
}

const SUGGESTED = /^([^']*'(-*)([^'=]*).*)\n\(Did you mean (?:one of )?(.*)\?\)$/s

/** Keeps what is near of the names that commander suggests, which finds `--port` like `--format`. */
function suggestName(_: string, says: string, dashes: string, written: string, names: string): string {
  const nearest = nearestName(
    written,
    names.split(', ').map((name) => name.replace(/^-+/, '')),
  )
  return `${says.replace(/\.$/, '')}${suggestion(nearest && dashes + nearest)}`
}

/** The sentence about a value that is none of the choices, with the one that was likely meant. */
function suggestChoice(text: string): string {
  const [, written, choices] = /argument '(.*)' is invalid\. Allowed choices are (.*)\.$/s.exec(text) ?? []
  const nearest = written && choices && nearestName(written, choices.split(', '))
  return nearest ? `${text.slice(0, -1)}; did you mean ${nearest}?` : text
}

function stackText(error: Error): string {
  const text = error.stack ?? error.message
  return error.cause instanceof Error ? `${text}\ncaused by ${stackText(error.cause)}` : text
}

const NO_MEMORY =
  'the system gives no more memory: raise the limit of this process (ulimit -v, or that of its container); WebAssembly sets aside many gigabytes of addresses, which hold no memory'
const ELSEWHERE = 'or name another directory with --data-dir, for temporary files with TMPDIR'

/** What to do about errors of the system that are no fault of this program, by their codes (errno(3)). */
const ADVICE: ReadonlyMap<unknown, string> = new Map([
  ['EMFILE', 'this process may open no more files: raise the limit (ulimit -n) to 1024 or more'],
  ['ENFILE', 'the machine may open no more files: end what holds many, or raise its limit (fs.file-max)'],
  ['ENOSPC', `no space is left on the disk: free some, ${ELSEWHERE}`],
  ['EDQUOT', `the quota of the disk is used up: free some, ${ELSEWHERE}`],
  ['EROFS', `the file system can only be read: mount it for writing, ${ELSEWHERE}`],
  ['ENOMEM', NO_MEMORY],
  ['ERR_WORKER_OUT_OF_MEMORY', NO_MEMORY],
])

/** What V8 says where the system grants no memory; it has no code. */
const OUT_OF_MEMORY = /could not allocate memory|Cannot allocate Wasm memory|Array buffer allocation failed/

/** What a person can do about an error where a limit of the machine is behind it, with the error; undefined for all others. */
export function systemLimitText(raw: unknown): string | undefined {
  const error: Error & { readonly code?: unknown } = toError(raw)
  const { message, cause, code } = error
  const advice = ADVICE.get(code) ?? (OUT_OF_MEMORY.test(message) ? NO_MEMORY : undefined)
  if (advice !== undefined) return `${advice} (${message})`
  return cause === undefined ? undefined : systemLimitText(cause)
}
