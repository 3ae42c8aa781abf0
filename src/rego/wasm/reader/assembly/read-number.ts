import { opa_json_parse } from './policy'
import { BLOCK_HEADER, INTEGER, INTEGER_VALUE, WORDS_SIZE } from './value-layout'

/** The runtime calculates with the low 32 bits of integer values only. */
export const MAX_INTEGER_DIGITS: usize = 9
const MINUS: u32 = 0x2d
const ZERO: u32 = 0x30

/** Numbers that the runtime has to read, each with the address of its text, newest first. */
let leftOver: usize = 0

export function leftOverNumbers(): usize {
  return leftOver
}

export function setLeftOverNumbers(newest: usize): void {
  leftOver = newest
}

/** Reads the number at `at` into `block`. Returns the address after it, or 0 if it is malformed. */
export function readNumber(at: usize, block: usize): usize {
  const isNegative = load<u8>(at) == MINUS
  const first = isNegative ? at + 1 : at
  let end = first
  let value: i64 = 0
  if (load<u8>(first) == ZERO) end++
  else {
    while (true) {
      const digit = load<u8>(end) - ZERO
      if (digit > 9) break
      value = value * 10 + digit
      end++
    }
    if (end == first) return 0
  }
  store<u32>(block, WORDS_SIZE)
  const next = load<u8>(end)
  const isFraction = next == 0x2e || (next | 0x20) == 0x65
  if (isFraction || end - first > MAX_INTEGER_DIGITS || (isNegative && value == 0))
    return leaveOver(at, end, block)
  store<u32>(block + BLOCK_HEADER, INTEGER)
  store<i64>(block + BLOCK_HEADER, isNegative ? -value : value, INTEGER_VALUE)
  return end
}

/** Returns the address after the integer at `first`, without a sign, or 0 if there is none. */
export function integerEnd(first: usize): usize {
  return load<u8>(first) == ZERO ? first + 1 : skipDigits(first)
}

/** Returns the value of a few digits between two addresses. */
export function integerOf(first: usize, end: usize): i64 {
  let value: i64 = 0
  for (let at = first; at < end; at++) value = value * 10 + (load<u8>(at) - ZERO)
  return value
}

/** Returns the address after fraction and exponent, or 0 if they are malformed. */
export function fractionEnd(end: usize): usize {
  let at = end
  if (load<u8>(at) == 0x2e) {
    at = skipDigits(at + 1)
    if (at == 0) return 0
  }
  if ((load<u8>(at) | 0x20) == 0x65) {
    const sign = load<u8>(at + 1)
    at = skipDigits(sign == 0x2b || sign == MINUS ? at + 2 : at + 1)
  }
  return at
}

function leaveOver(start: usize, integerEnd: usize, block: usize): usize {
  const end = fractionEnd(integerEnd)
  if (end == 0) return 0
  const note = block + BLOCK_HEADER
  store<u32>(note, start)
  store<u32>(note, end - start, 4)
  store<u32>(note, leftOver, 8)
  leftOver = note
  return end
}

/** Returns the address after one or more digits, or 0 if there are none. */
function skipDigits(start: usize): usize {
  let at = start
  while (load<u8>(at) - ZERO <= 9) at++
  return at == start ? 0 : at
}

/** Reads the remaining numbers by the runtime, whose heap must start after all values. */
export function readLeftOverNumbers(): void {
  for (let note = leftOver; note != 0;) {
    const next = load<u32>(note, 8)
    memory.copy(note, opa_json_parse(load<u32>(note), load<u32>(note, 4)), WORDS_SIZE)
    note = next
  }
  leftOver = 0
}
