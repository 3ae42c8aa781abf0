import { RegoObject } from '../../values/value.js'
import type { RegoArray, RegoValue } from '../../values/value.js'
import { decodeGoBase64 } from '../encoding/go-base64.js'
import { readJsonDocument } from '../encoding/json-document.js'
import { BuiltinError } from '../shared/builtin.js'
import { isArray } from '../shared/operands.js'

/** The three sections of a JWS in compact form (RFC 7515), still encoded. */
export interface CompactToken {
  readonly header: string
  readonly payload: string
  readonly signature: string
}

/** Throws BuiltinError unless there are three sections. */
export function splitToken(text: string): CompactToken {
  if (!text.includes('.')) throw new BuiltinError('encoded JWT had no period separators')
  const sections = text.split('.')
  const [header, payload, signature] = sections
  if (sections.length !== 3 || header === undefined || payload === undefined || signature === undefined) {
    throw new BuiltinError(`encoded JWT must have 3 sections, found ${sections.length}`)
  }
  return { header, payload, signature }
}

export function signingInput(token: CompactToken): Buffer {
  return Buffer.from(`${token.header}.${token.payload}`)
}

/** Returns the header's object. Throws BuiltinError for encrypted tokens and non-objects. */
export function decodeHeader(token: CompactToken): RegoObject {
  const bytes = withContext('JWT header had invalid encoding', () => decodeSection(token.header))
  const header = withContext('bad JWT header', () => readClaims(bytes))
  if (header.get('enc') !== undefined) {
    throw new BuiltinError('JWT is a JWE object, which is not supported')
  }
  return header
}

export function decodePayload(token: CompactToken): Buffer {
  return withContext('JWT payload had invalid encoding', () => decodeSection(token.payload))
}

/** Parses the JSON object of a header or payload. */
export function readClaims(bytes: Buffer): RegoObject {
  const claims = withContext('invalid JSON', () => readJsonDocument(bytes, 'decoder'))
  if (claims instanceof RegoObject) return claims
  throw new BuiltinError('decoded JSON type was not an Object')
}

/** OPA's base64url.decode: padding is optional. */
export function decodeSection(text: string): Buffer {
  if (text.endsWith('=')) return decodeGoBase64(text, 'url')
  const beyondGroups = Buffer.byteLength(text) % 4
  if (beyondGroups === 1) throw new BuiltinError(`illegal base64url string: ${text}`)
  return decodeGoBase64(text + '='.repeat((4 - beyondGroups) % 4), 'url')
}

/** Prefixes the message of a BuiltinError that `action` throws with `context`. */
export function withContext<T>(context: string, action: () => T): T {
  try {
    return action()
  } catch (raw) {
    if (raw instanceof BuiltinError) throw new BuiltinError(`${context}: ${raw.message}`, raw.code)
    throw raw
  }
}

/** The fields of a JOSE header that a verifier uses; an absent text is empty. */
export interface HeaderFields {
  readonly alg: string
  readonly kid: string
  readonly cty: string
  /** True if the header has no critical field that OPA does not know (RFC 7515, 4.1.11). */
  readonly areCriticalFieldsKnown: boolean
}

const KNOWN_FIELDS: readonly RegoValue[] = ['alg', 'kid', 'typ', 'cty', 'crit']

/** Throws BuiltinError if a known field has the wrong type. */
export function readHeaderFields(header: RegoObject): HeaderFields {
  const alg = readText(header, 'alg')
  const critical = readCritical(header.get('crit'))
  const cty = readText(header, 'cty')
  const kid = readText(header, 'kid')
  readText(header, 'typ')
  const areCriticalFieldsKnown = header.entries.every(
    ([name]) => KNOWN_FIELDS.includes(name) || !critical.includes(name),
  )
  return { alg, kid, cty, areCriticalFieldsKnown }
}

function readText(header: RegoObject, name: string): string {
  const value = header.get(name)
  if (value === undefined) return ''
  if (typeof value !== 'string') throw new BuiltinError(`${name}: must be a string`)
  return value
}

/** Returns the names before the first member that is not a string, where OPA stops. */
function readCritical(value: RegoValue | undefined): RegoArray {
  if (value === undefined) return []
  if (!isArray(value)) throw new BuiltinError('crit: must be a list')
  const stop = value.findIndex((name) => typeof name !== 'string')
  const names = stop < 0 ? value : value.slice(0, stop)
  if (names.length === 0) throw new BuiltinError('crit: must be a nonempty list')
  return names
}
