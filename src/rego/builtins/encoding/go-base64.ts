import { BuiltinError } from '../shared/builtin.js'

/** Go's encodings: StdEncoding and URLEncoding require padding, RawURLEncoding refuses it. */
export type Base64Variant = 'standard' | 'url' | 'raw-url'

const PAD = 0x3d
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const DIGITS: Readonly<Record<Base64Variant, ReadonlySet<number>>> = {
  standard: new Set(Buffer.from(`${ALPHABET}+/`)),
  url: new Set(Buffer.from(`${ALPHABET}-_`)),
  'raw-url': new Set(Buffer.from(`${ALPHABET}-_`)),
}

/**
 * Decodes base64 as Go does: line ends are skipped anywhere, and surplus bits of the last digit are
 * ignored. Throws BuiltinError `illegal base64 data at input byte N` with Go's N.
 */
export function decodeGoBase64(text: string, variant: Base64Variant): Buffer {
  const bytes = Buffer.from(text, 'utf8')
  checkBase64(bytes, variant)
  return Buffer.from(text, variant === 'standard' ? 'base64' : 'base64url')
}

/** Decodes a base64url unsigned integer of a JWK; 0 if there is none. */
export function integerOfBase64Url(text: string | undefined): bigint {
  const hex = Buffer.from(text ?? '', 'base64url').toString('hex')
  return BigInt(`0x${hex || '0'}`)
}

/** Checks groups of four digits. As in Go, the error is at the start of an incomplete group. */
function checkBase64(bytes: Uint8Array, variant: Base64Variant): void {
  let inGroup = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0
    if (isLineEnd(byte)) continue
    if (DIGITS[variant].has(byte)) {
      inGroup = (inGroup + 1) % 4
      continue
    }
    if (byte !== PAD || variant === 'raw-url' || inGroup < 2) throw corrupt(at)
    checkPadding(bytes, at, inGroup)
    return
  }
  if (inGroup === 1 || (inGroup > 1 && variant !== 'raw-url')) throw corrupt(bytes.length - inGroup)
}

/** `at` is the first `=` of a group with two or three digits. Only line ends may follow. */
function checkPadding(bytes: Uint8Array, at: number, digits: number): void {
  let next = at + 1
  if (digits === 2) {
    next = skipLineEnds(bytes, next)
    if (next === bytes.length) throw corrupt(bytes.length)
    if (bytes[next] !== PAD) throw corrupt(next - 1)
    next++
  }
  next = skipLineEnds(bytes, next)
  if (next < bytes.length) throw corrupt(next)
}

function skipLineEnds(bytes: Uint8Array, from: number): number {
  let at = from
  while (at < bytes.length && isLineEnd(bytes[at] ?? 0)) at++
  return at
}

function isLineEnd(byte: number): boolean {
  return byte === 0x0a || byte === 0x0d
}

function corrupt(at: number): BuiltinError {
  return new BuiltinError(`illegal base64 data at input byte ${at}`)
}
