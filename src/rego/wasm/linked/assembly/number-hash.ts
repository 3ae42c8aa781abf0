import { opa_number_hash } from './policy'
import * as layout from './value-layout'

const FNV_OFFSET: u32 = 0x811c9dc5
const FNV_PRIME: u32 = 0x01000193
const MINUS: u8 = 0x2d
const PLUS: u8 = 0x2b
const POINT: u8 = 0x2e
const ZERO: u8 = 0x30
const LETTER_E: u8 = 0x65
/** Number of digits of the largest 64-bit integer. */
const INTEGER_DIGITS: i64 = 19
/** Exceeds the length of any text, so that adding to it does not overflow. */
const LARGEST_EXPONENT: i64 = 1 << 40

/**
 * Hashes a number by its value. The runtime hashes the double of a number's text, which is inexact
 * (`1000e-1` differs from `100`) and distinguishes the two zeros, so that numbers were not found in
 * sets and as keys.
 */
export function numberHash(number: usize): u32 {
  if (load<u16>(number) != layout.DECIMAL) return opa_number_hash(number)
  const text: usize = load<u32>(number, layout.NUMBER_TEXT)
  const end = text + load<u32>(number, layout.NUMBER_LENGTH)
  const isNegative = load<u8>(text) == MINUS
  let hash = FNV_OFFSET
  let value: u64 = 0
  let digits: i64 = 0
  let exponent: i64 = 0
  let zeros: i64 = 0
  let isFraction = false
  for (let at = isNegative ? text + 1 : text; at < end; at++) {
    const byte = load<u8>(at)
    if (byte == POINT) {
      isFraction = true
      continue
    }
    if ((byte | 0x20) == LETTER_E) {
      exponent += exponentOf(at + 1, end)
      break
    }
    if (isFraction) exponent--
    if (byte == ZERO) {
      if (digits > 0) zeros++
      continue
    }
    for (; zeros > 0; zeros--) {
      hash *= FNV_PRIME
      value *= 10
      digits++
    }
    hash = (hash * FNV_PRIME) ^ byte
    value = value * 10 + (byte - ZERO)
    digits++
  }
  if (digits == 0) return integerHash(number, 0)
  exponent += zeros
  if (exponent >= 0 && digits + exponent <= INTEGER_DIGITS) {
    for (let power = exponent; power > 0; power--) value *= 10
    const largest: u64 = (i64.MAX_VALUE as u64) + (isNegative ? 1 : 0)
    if (value <= largest) return integerHash(number, isNegative ? -(value as i64) : (value as i64))
  }
  return (hash * FNV_PRIME) ^ ((exponent as u32) << 1) ^ (isNegative ? 1 : 0)
}

/** Returns the runtime's hash of an integer by temporarily overwriting `number`. */
function integerHash(number: usize, integer: i64): u32 {
  const kind = load<u16>(number)
  const text = load<u64>(number, layout.INTEGER_VALUE)
  store<u16>(number, layout.INTEGER)
  store<i64>(number, integer, layout.INTEGER_VALUE)
  const hash = opa_number_hash(number)
  store<u64>(number, text, layout.INTEGER_VALUE)
  store<u16>(number, kind)
  return hash
}

/** Returns the exponent between two addresses, clamped to LARGEST_EXPONENT. */
function exponentOf(start: usize, end: usize): i64 {
  const sign = load<u8>(start)
  let exponent: i64 = 0
  for (let at = sign == MINUS || sign == PLUS ? start + 1 : start; at < end; at++) {
    if (exponent < LARGEST_EXPONENT) exponent = exponent * 10 + (load<u8>(at) - ZERO)
  }
  return sign == MINUS ? -exponent : exponent
}
