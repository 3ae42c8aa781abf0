import { readFileSync } from 'node:fs'
import { CommanderError } from 'commander'

import { AppError, toError } from '../../errors/app-error.js'
import type { ErrorDetail } from '../../errors/app-error.js'
import { caretLines } from '../../lib/text/caret-lines.js'
import { nearestName, suggestion } from '../../lib/text/nearest-name.js'
import { errorAnswer } from '../../http/exchange/error-body.js'
import { EXIT, wrongUse } from '../session/session.js'
import type { ExitCode } from '../session/session.js'
import type { Terminal } from '../session/terminal.js'
import { printable } from '../../lib/text/shown-text.js'

export interface ReportOptions {
  readonly isJson: boolean
  /** True if stack traces are shown. */
  readonly debug: boolean
}

/**
 * Prints the error that ended a command, as text to standard error or as JSON in OPA's format to
 * standard output. Returns the exit code.
 */
export function reportFailure(raw: unknown, terminal: Terminal, options: ReportOptions): ExitCode {
  if (raw instanceof CommanderError && raw.exitCode === 0) return EXIT.fine
  // The help was printed already.
  if (raw instanceof CommanderError && raw.code === 'commander.help') return EXIT.error
  const error = toReportedError(raw)
  if (options.isJson) terminal.out(errorAnswer(error).body)
  else terminal.err(errorText(error))
  if (options.debug) terminal.err(`${stackText(toError(raw))}\n`)
  return EXIT.error
}

/** Returns `tidegate: message`, and each detail with its line of Rego. */
export function errorText(error: AppError): string {
  const details = error.details.flatMap((detail) => [detailText(detail), ...sourceLines(detail)])
  return printable([`tidegate: ${error.message}`, ...details, ''].join('\n'))
}

/**
 * Returns the line of a Rego file and a caret under its column, which OPA counts in characters;
 * nothing if the file cannot be read, as in a bundle.
 */
function sourceLines({ location }: ErrorDetail): string[] {
  if (!location?.file.endsWith('.rego')) return []
  return caretLines(readLine(location.file, location.row) ?? '', location.col)
}

function readLine(file: string, row: number): string | undefined {
  try {
    return readFileSync(file, 'utf8').split(/\r?\n/)[row - 1]
  } catch {
    return undefined
  }
}

/** Returns `file:row:col: code: message`. A column of 0 is unknown and omitted. */
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
    `${toError(raw).message} (this is a bug in tidegate; --debug shows the stack trace)`,
  )
}

const SUGGESTED = /^([^']*'(-*)([^'=]*).*)\n\(Did you mean (?:one of )?(.*)\?\)$/s

/** Filters commander's suggestions, which are too generous. */
function suggestName(_: string, says: string, dashes: string, written: string, names: string): string {
  const nearest = nearestName(
    written,
    names.split(', ').map((name) => name.replace(/^-+/, '')),
  )
  return `${says.replace(/\.$/, '')}${suggestion(nearest && dashes + nearest)}`
}

/** Adds the most similar choice to an error about an invalid one. */
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
  'The system denied memory. Raise the limit of this process (ulimit -v, or that of its container); WebAssembly reserves many gigabytes of address space without using memory'
const ELSEWHERE = 'or use another directory with --data-dir, for temporary files TMPDIR'

/** Advice for system errors by code (errno(3)). */
const ADVICE: ReadonlyMap<unknown, string> = new Map([
  ['EMFILE', 'Too many open files in this process. Raise the limit (ulimit -n) to 1024 or more'],
  [
    'ENFILE',
    'Too many open files on this machine. Stop programs that use many, or raise its limit (fs.file-max)',
  ],
  ['ENOSPC', `No space left on the disk. Free some, ${ELSEWHERE}`],
  ['EDQUOT', `The disk quota is exhausted. Free some space, ${ELSEWHERE}`],
  ['EROFS', `The file system is read-only. Remount it for writing, ${ELSEWHERE}`],
  ['ENOMEM', NO_MEMORY],
  ['ERR_WORKER_OUT_OF_MEMORY', NO_MEMORY],
])

/** V8's messages about memory, which have no code. */
const OUT_OF_MEMORY = /could not allocate memory|Cannot allocate Wasm memory|Array buffer allocation failed/

/** Returns advice for an error caused by a system limit; undefined for others. */
function systemLimitText(raw: unknown): string | undefined {
  const error: Error & { readonly code?: unknown } = toError(raw)
  const { message, cause, code } = error
  const advice = ADVICE.get(code) ?? (OUT_OF_MEMORY.test(message) ? NO_MEMORY : undefined)
  if (advice !== undefined) return `${advice} (${message})`
  return cause === undefined ? undefined : systemLimitText(cause)
}
