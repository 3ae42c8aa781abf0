import { syntaxError } from './syntax-error.js'

/**
 * Returns the offset after the number at `start`, which is a digit or a minus sign. Throws as
 * `syntaxError`.
 */
export function scanNumber(bytes: Uint8Array, start: number): number {
  let at = bytes[start] === 0x2d ? start + 1 : start
  if (bytes[at] === 0x30) at++
  else at = scanDigits(bytes, at, 'in numeric literal')
  if (bytes[at] === 0x2e) at = scanDigits(bytes, at + 1, 'after decimal point in numeric literal')
  if (((bytes[at] ?? 0) | 0x20) !== 0x65) return at
  at++
  if (bytes[at] === 0x2b || bytes[at] === 0x2d) at++
  return scanDigits(bytes, at, 'in exponent of numeric literal')
}

function scanDigits(bytes: Uint8Array, start: number, context: string): number {
  let at = start
  while (isDigit(bytes[at] ?? 0)) at++
  if (at === start) throw syntaxError(bytes, at, context)
  return at
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39
}

const LITERALS: Readonly<Record<number, string>> = { 0x74: 'true', 0x66: 'false', 0x6e: 'null' }

/**
 * Returns the offset after `true`, `false` or `null` at `start`. Throws as `scanNumber` for any
 * other byte.
 */
export function scanLiteral(bytes: Uint8Array, start: number): number {
  const literal = LITERALS[bytes[start] ?? 0]
  if (literal === undefined) throw syntaxError(bytes, start, 'looking for beginning of value')
  for (let i = 1; i < literal.length; i++) {
    if (bytes[start + i] !== literal.charCodeAt(i)) {
      throw syntaxError(bytes, start + i, `in literal ${literal} (expecting '${literal.charAt(i)}')`)
    }
  }
  return start + literal.length
}
