import { fieldValue, textOf } from '../../../lib/validation/field-value.js'
import { isRecord } from '../../../lib/validation/record.js'
import { withoutColours } from '../../../lib/text/shown-text.js'
import { statedLevel } from '../topics/stated-level.js'
import { levelOf, RECORD_FIELDS } from './record-fields.js'

/** Longer lines of JSON carry documents rather than events, and are not read. */
const MAX_CHARACTERS = 64 * 1024
const SERVER_ERROR = 500
const MIN_STATUS = 100
const MAX_STATUS = 599
const MIN_BYTES = 2

/**
 * An event in JSON as a line of text: its level, its message, method, path and status of a request,
 * the type and message of an error, and its stack trace on the following lines. The message is that
 * of the named field, else of the usual ones. Undefined if it has none of these.
 */
export function describeRecord(record: unknown, messageField?: string): string | undefined {
  if (!isRecord(record)) return undefined
  const own = messageField === undefined ? undefined : textIn(record, [messageField])?.text
  const message = inner(own ?? textIn(record, RECORD_FIELDS.message)?.text)
  const request = requestOf(record)
  const [type, cause] = [
    textIn(record, RECORD_FIELDS.errorType)?.text,
    textIn(record, RECORD_FIELDS.errorMessage)?.text,
  ]
  const stack = textIn(record, RECORD_FIELDS.stack)?.text
  if (message === undefined && request === undefined && cause === undefined && stack === undefined)
    return undefined
  const isSaid = (text: string | undefined): boolean =>
    text === undefined || (message?.includes(text) ?? false) || (stack?.includes(text) ?? false)
  const answer = textIn(record, RECORD_FIELDS.grpc)?.text
  const grpc =
    answer === undefined || (message?.includes(answer) ?? false) ? undefined : `grpc.code=${answer}`
  const head = [message, request?.text, grpc].filter((part) => part !== undefined && part !== '').join(' ')
  const error = [type, cause].filter((part) => !isSaid(part)).join(': ')
  const first = [head, error].filter((part) => part !== '').join(': ')
  // A status is the outcome of a request and not its severity, so the level still precedes it.
  const level = statedIn(record, [message, error].join(' '), request?.status)
  return `${level === undefined ? '' : `${level} `}${first}${stack === undefined ? '' : `\n${stack}`}`.trimEnd()
}

/**
 * The line as text, without the prefix of a container. An object in JSON is described by
 * `describeRecord`, other lines are unchanged.
 */
export function describeLine(line: string, messageField?: string): string {
  const text = withoutContainer(line)
  if (text.length > MAX_CHARACTERS) return text
  if (text.startsWith('{')) return described(text, messageField) ?? text
  const afterHeader = recordAfterHeader(text)
  const description = afterHeader === undefined ? undefined : described(afterHeader, messageField)
  return description === undefined || statedLevel(description) === undefined ? text : description
}

function described(text: string, messageField: string | undefined): string | undefined {
  try {
    return describeRecord(JSON.parse(text), messageField)
  } catch {
    return undefined
  }
}

/** Containers wrap what a program wrote, which may be JSON itself. */
function inner(message: string | undefined): string | undefined {
  return message === undefined ? undefined : describeLine(message.trimEnd())
}

/**
 * The level of the record, unless its message states one. A request with a status of 500 or more is
 * an error.
 */
function statedIn(
  record: Readonly<Record<string, unknown>>,
  message: string,
  status: number | undefined,
): string | undefined {
  if (statedLevel(message) !== undefined) return undefined
  const level = levelIn(record)
  const isQuiet = level === undefined || level === 'INFO' || level === 'DEBUG'
  return isQuiet && status !== undefined && status >= SERVER_ERROR ? 'ERROR' : level
}

/** The level of the first field that has one. */
function levelIn(record: Readonly<Record<string, unknown>>): string | undefined {
  for (const field of RECORD_FIELDS.level) {
    const text = textOf(nameOf(fieldValue(record, field)))
    if (text !== undefined) return levelOf(field, text, record)
  }
  return undefined
}

/** Some write a level as an object with its name and its number. */
function nameOf(value: unknown): unknown {
  return isRecord(value) ? (value['name'] ?? value['text'] ?? value['label']) : value
}

function requestOf(
  record: Readonly<Record<string, unknown>>,
): { readonly text: string; readonly status: number } | undefined {
  const status = Number(textIn(record, RECORD_FIELDS.status)?.text)
  if (!Number.isInteger(status) || status < MIN_STATUS || status > MAX_STATUS) return undefined
  const parts = [textIn(record, RECORD_FIELDS.method)?.text, textIn(record, RECORD_FIELDS.path)?.text]
  const named = parts.filter((part) => part !== undefined)
  const duration = textIn(record, RECORD_FIELDS.duration)?.text
  const took = duration === undefined || !/^[\d.]/.test(duration) ? [] : [`duration=${duration}`]
  return { text: [...named, `status=${status}`, ...took].join(' '), status }
}

/** The first of the fields with a string, including string values of OpenTelemetry. */
function textIn(
  record: Readonly<Record<string, unknown>>,
  fields: readonly string[],
): { readonly text: string } | undefined {
  for (const field of fields) {
    const value = fieldValue(record, field)
    const text = textOf(isRecord(value) ? value['stringValue'] : (textOfBytes(value) ?? value))
    if (text !== undefined && text !== '' && text !== 'false') return { text }
  }
  return undefined
}

/** The journal of systemd gives strings with colours as bytes. */
function textOfBytes(value: unknown): string | undefined {
  if (!Array.isArray(value) || value.length < MIN_BYTES || !value.every(isByte)) return undefined
  return withoutColours(Buffer.from(value).toString())
}

function isByte(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 0xff
}

/**
 * Prefixes of containers: the runtime interface of Kubernetes, Docker Compose, and PHP's pools,
 * which log all output as warnings.
 */
const CONTAINER =
  /^(?:\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d) (?:stdout|stderr) [FP] |[\w.-]{1,60} +\| |\[[\w :.-]{1,40}\] WARNING: \[pool [^\]]{1,60}\] child \d+ said into std(?:err|out): "(?:NOTICE: PHP message: )?)/
/** The name of a container, padded. */
const LONGEST_CONTAINER = 120
/** Longer prefixes are messages. */
const LONGEST_HEADER = 200

/** A line without what a container wrote before it. */
function withoutContainer(line: string): string {
  // Searches back from the latest end of a prefix, which avoids reading all of a long line.
  if (line.lastIndexOf('| ', LONGEST_CONTAINER) < 0 && line.lastIndexOf(' std', LONGEST_CONTAINER) < 0)
    return line
  const prefix = CONTAINER.exec(line)?.[0]
  return prefix === undefined ? line : line.slice(prefix.length)
}

/**
 * The JSON object at the end of a line, after the header of another writer such as syslog.
 * Undefined if there is none, or if the line states a level before it: the object then belongs to a
 * message.
 */
function recordAfterHeader(line: string): string | undefined {
  if (!line.endsWith('}')) return undefined
  const at = line.indexOf('{"')
  if (at <= 0 || at > LONGEST_HEADER || statedLevel(line.slice(0, at).replace(/^<\d+>/, '')) !== undefined)
    return undefined
  return line.slice(at)
}

/** Longer than any JSON line that is read. */
/** The time is followed by the six letters of a stream's name. */
const MARK_AFTER_TIME = ' stdout '.length
const PREFIX = /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d) (stdout|stderr) ([FP]) /

/**
 * Joins lines that the container runtime of Kubernetes has cut: all parts but the last are marked
 * with a `P`.
 */
export class PartialLines {
  readonly #begun = new Map<string, string>()

  /** Adds the next line. Returns a whole line, or undefined if more parts follow. */
  add(line: string): string | undefined {
    // Most logs have no such line, and are spared the search.
    if (this.#begun.size === 0 && line.charAt(line.indexOf(' ') + MARK_AFTER_TIME) !== 'P') return line
    const [prefix = '', stream = '', mark] = PREFIX.exec(line) ?? []
    const begun = this.#begun.get(stream)
    const free = Math.max(0, MAX_CHARACTERS - (begun?.length ?? 0))
    const whole = begun === undefined ? line : begun + line.slice(prefix.length).slice(0, free)
    if (mark === 'P') {
      this.#begun.set(stream, begun === undefined ? line.replace(' P ', ' F ') : whole)
      return undefined
    }
    if (mark === 'F') this.#begun.delete(stream)
    return mark === 'F' ? whole : line
  }

  /** Lines that began and never ended. */
  rest(): string[] {
    const lines = [...this.#begun.values()]
    this.#begun.clear()
    return lines
  }
}
