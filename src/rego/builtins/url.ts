import { compareStrings } from '../../lib/text/compare-strings.js'
import { printRegoText } from '../values/print-text.js'
import { RegoObject, RegoSet } from '../values/value.js'
import type { RegoArray, RegoValue } from '../values/value.js'
import { parseGoUrl } from './encoding/go-url.js'
import { decodeUtf8 } from './encoding/go-utf8.js'
import { quoteGoString } from './go-format/quote.js'
import { BuiltinError, passes } from './shared/builtin.js'
import type { BuiltinTable } from './shared/builtin.js'
import { isArray, objectOperand, operand, stringOperand } from './shared/operands.js'

type Args = readonly RegoValue[]

/** Query strings, escaped as Go's net/url does for forms, and URIs, parsed as in OPA 1.16. */
export const urlBuiltins: BuiltinTable = {
  'urlquery.encode': (args) => escapeQuery(stringOperand(args, 0)),
  'urlquery.decode': (args) => unescapeQuery(stringOperand(args, 0)),
  'urlquery.encode_object': encodeObject,
  'urlquery.decode_object': decodeObject,
  'uri.is_valid': isValidUri,
  'uri.parse': parseUri,
}

function encodeObject(args: Args): RegoValue {
  // Keys of other types come before strings, so that of `1` and `"1"` the latter is kept, as in
  // OPA.
  const values = new Map(
    objectOperand(args, 0).entries.map(([key, value]) => [plainText(key), queryValues(value)]),
  )
  return [...values]
    .sort(([a], [b]) => compareStrings(a, b))
    .flatMap(([key, values]) => values.map((value) => `${escapeQuery(key)}=${escapeQuery(value)}`))
    .join('&')
}

function decodeObject(args: Args): RegoValue {
  const text = stringOperand(args, 0)
  if (text.includes(';')) throw new BuiltinError('invalid semicolon separator in query')
  const values = new Map<string, string[]>()
  for (const pair of text.split('&').filter((pair) => pair !== '')) {
    const equals = pair.includes('=') ? pair.indexOf('=') : pair.length
    const key = unescapeQuery(pair.slice(0, equals))
    const value = unescapeQuery(pair.slice(equals + 1))
    const earlier = values.get(key)
    if (earlier === undefined) values.set(key, [value])
    else earlier.push(value)
  }
  return new RegoObject(values)
}

function queryValues(value: RegoValue): readonly string[] {
  if (typeof value === 'string') return [value]
  const members: RegoArray = value instanceof RegoSet ? value.members : isArray(value) ? value : notText()
  return members.map((member) => (typeof member === 'string' ? member : notText()))
}

function notText(): never {
  throw new BuiltinError('operand 1 values must be string, array[string], or set[string]', 'eval_type_error')
}

function plainText(key: RegoValue): string {
  return typeof key === 'string' ? key : printRegoText(key)
}

/** The URL standard's form encoding differs from Go's in two characters. */
function escapeQuery(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1).replaceAll('%7E', '~').replaceAll('*', '%2A')
}

function unescapeQuery(text: string): string {
  // Most texts need no decoding, and two buffers for each of a million would overload the garbage
  // collector.
  if (!text.includes('%') && !text.includes('+')) return text
  const bytes = Buffer.from(text, 'utf8')
  const decoded = Buffer.alloc(bytes.length)
  let length = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0
    if (byte === PERCENT) {
      decoded[length++] = escapedByte(bytes.subarray(at, at + 3))
      at += 2
    } else decoded[length++] = byte === PLUS ? SPACE : byte
  }
  return decodeUtf8(decoded.subarray(0, length))
}

const PERCENT = 0x25
const PLUS = 0x2b
const SPACE = 0x20

function escapedByte(escape: Buffer): number {
  const text = decodeUtf8(escape)
  if (!/^%[0-9a-fA-F]{2}$/.test(text)) throw new BuiltinError(`invalid URL escape ${quoteGoString(text)}`)
  return Number.parseInt(text.slice(1), 16)
}

const PORT = /:(?<port>\d*)$/
const BRACKETS = /^\[(?<inside>.*)\]$/s

/** Returns the parts of a URI that are present. `raw_path` is present with every path. */
function parseUri(args: Args): RegoValue {
  const { scheme, host, path, rawPath, query, fragment } = parseGoUrl(stringOperand(args, 0))
  const port = PORT.exec(host)?.groups?.['port'] ?? ''
  const name = host.replace(PORT, '')
  const parts = {
    scheme,
    hostname: BRACKETS.exec(name)?.groups?.['inside'] ?? name,
    port,
    path,
    raw_path: rawPath === '' ? path : rawPath,
    raw_query: query,
    fragment,
  }
  return new RegoObject(Object.entries(parts).filter(([, text]) => text !== ''))
}

/** An empty text is a relative reference, but not accepted as a URI. */
function isValidUri(args: Args): RegoValue {
  const text = operand(args, 0)
  if (typeof text !== 'string' || text === '') return false
  return passes(() => {
    parseGoUrl(text)
  })
}
