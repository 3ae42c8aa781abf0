import { AppError } from '../../errors/app-error.js'
import { goJsonString } from '../../lib/json/text/escape.js'
import { redactSecrets } from '../../lib/redaction/redact.js'
import { REDACTION_MARK } from '../../lib/redaction/redacted.js'
import { PARSE_MODULE } from '../builtins/runtime.js'
import { HTTP_SEND, replyOf } from '../builtins/http/http-send.js'
import type { CallResult, RecordedCall, RecordedCalls } from '../builtins/shared/recorded-calls.js'
import { UNMETERED_WORK } from '../metering/work-meter.js'
import { parseRegoText } from '../values/parse-text.js'
import { printGoJson } from '../values/print-go-json.js'
import { RegoObject } from '../values/value.js'
import type { RegoValue } from '../values/value.js'

/** Headers whose values are not credentials. Of others only the names are stored. */
const SHOWN_HEADERS: readonly string[] = ['accept', 'accept-language', 'content-type', 'host', 'user-agent']
const KEYS: readonly string[] = ['tls_client_key', 'tls_client_key_file', 'tls_client_key_env_variable']

/**
 * Returns results of built-ins that may differ next time, in the form of OPA's `nd_builtin_cache`:
 * by built-in and arguments, as JSON. Excludes failed calls. Undefined if longer than `maxLength`.
 */
export function ndBuiltinCache(recorded: RecordedCalls, maxLength: number): string | undefined {
  const byName = new Map<string, string[]>()
  let length = 2
  for (const call of recorded.values()) {
    const entry = entryOf(call, maxLength - length)
    if (entry === null) return undefined
    if (entry === undefined) continue
    length += entry.length + call.name.length + 6
    const entries = byName.get(call.name)
    if (entries === undefined) byName.set(call.name, [entry])
    else entries.push(entry)
  }
  const members = [...byName].map(([name, entries]) => `"${name}":{${entries.join(',')}}`)
  return length > maxLength ? undefined : `{${members.join(',')}}`
}

/** Undefined for a failed call, null for one that is too long. */
function entryOf(call: RecordedCall, maxLength: number): string | undefined | null {
  const { name, args, result } = call
  // Deterministic for the same program. OPA does not store it either.
  if (name === PARSE_MODULE) return undefined
  if (name !== HTTP_SEND) {
    return 'value' in result ? `${goJsonString(printGoJson(args))}:${printGoJson(result.value)}` : undefined
  }
  // Checked before the body is parsed.
  if (bodyLength(result) > maxLength) return null
  const reply = replyOf(call, UNMETERED_WORK)
  if (reply === undefined) return undefined
  const shown = redactSecrets(Buffer.from(printGoJson(reply))).text
  return `${goJsonString(shownArguments(args))}:${shown.toString()}`
}

function bodyLength(result: CallResult): number {
  const body =
    'value' in result && result.value instanceof RegoObject ? result.value.get('raw_body') : undefined
  return typeof body === 'string' ? body.length : 0
}

/** Returns the arguments of `http.send` without credentials, for a log. */
export function shownArguments([operand]: readonly RegoValue[]): string {
  if (!(operand instanceof RegoObject)) return '[]'
  const headers = operand.get('headers')
  const shown = new RegoObject([
    ...operand.entries.map(
      ([name, value]) =>
        [name, typeof name === 'string' && KEYS.includes(name) ? REDACTION_MARK : value] as const,
    ),
    ...(headers instanceof RegoObject ? [['headers', withoutCredentials(headers)] as const] : []),
  ])
  return redactSecrets(Buffer.from(printGoJson([shown]))).text.toString()
}

function withoutCredentials(headers: RegoObject): RegoObject {
  return new RegoObject(
    headers.entries.map(([name, value]) => [
      name,
      typeof name === 'string' && SHOWN_HEADERS.includes(name.toLowerCase()) ? value : REDACTION_MARK,
    ]),
  )
}

/**
 * Parses an `nd_builtin_cache` by built-in and arguments as JSON. Raises `invalid` for other JSON.
 */
export function readNdBuiltinCache(json: string): ReadonlyMap<string, ReadonlyMap<string, RegoValue>> {
  const root = parseRegoText(json)
  if (!(root instanceof RegoObject)) {
    throw new AppError(
      'invalid',
      'the calls of a decision are an object: built-ins, and their arguments in each',
    )
  }
  return new Map(root.entries.map(([name, calls]) => [textOf(name), callsOf(calls)]))
}

function callsOf(calls: RegoValue): ReadonlyMap<string, RegoValue> {
  return new Map(
    calls instanceof RegoObject ? calls.entries.map(([args, value]) => [textOf(args), value]) : [],
  )
}

function textOf(value: RegoValue): string {
  return typeof value === 'string' ? value : ''
}
