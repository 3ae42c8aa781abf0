import { RegoObject } from '../../values/value.js'
import { BuiltinError } from '../shared/builtin.js'
import { decodeGoBase64 } from '../encoding/go-base64.js'
import { readJsonDocument } from '../encoding/json-document.js'

/** The three sections of a JWS in compact form (RFC 7515), still encoded. */
export interface CompactToken {
  readonly header: string
  readonly payload: string
  readonly signature: string
}

/** Raises BuiltinError unless there are three sections. */
export function splitToken(text: string): CompactToken {
  if (!text.includes('.')) throw new BuiltinError('encoded JWT had no period separators')
  const sections = text.split('.')
  const [header, payload, signature] = sections
  if (sections.length !== 3 || header === undefined || payload === undefined || signature === undefined) {
    throw new BuiltinError(`encoded JWT must have 3 sections, found ${sections.length}`)
  }
  return { header, payload, signature }
}

/** The bytes that the signature covers. */
export function signingInput(token: CompactToken): Buffer {
  return Buffer.from(`${token.header}.${token.payload}`)
}

/** The header's object; raises BuiltinError when it is none, or that of an encrypted token. */
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

/** The JSON object that the bytes of a header or payload hold. */
export function readClaims(bytes: Buffer): RegoObject {
  const claims = withContext('invalid JSON', () => readJsonDocument(bytes, 'decoder'))
  if (claims instanceof RegoObject) return claims
  throw new BuiltinError('decoded JSON type was not an Object')
}

/** OPA's base64url.decode: padding may be left out. */
export function decodeSection(text: string): Buffer {
  if (text.endsWith('=')) return decodeGoBase64(text, 'url')
  const beyondGroups = Buffer.byteLength(text) % 4
  if (beyondGroups === 1) throw new BuiltinError(`illegal base64url string: ${text}`)
  return decodeGoBase64(text + '='.repeat((4 - beyondGroups) % 4), 'url')
}

/** Puts `context` before the message of a BuiltinError that `action` raises. */
export function withContext<T>(context: string, action: () => T): T {
  try {
    return action()
  } catch (raw) {
    if (raw instanceof BuiltinError) throw new BuiltinError(`${context}: ${raw.message}`, raw.code)
    throw raw
  }
}
