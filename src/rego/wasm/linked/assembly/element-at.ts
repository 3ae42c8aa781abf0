import { opa_value_get } from './policy'
import * as layout from './value-layout'

const MINUS: u8 = 0x2d
const POINT: u8 = 0x2e
const ZERO: u8 = 0x30
const NINE: u8 = 0x39
/** Number of digits of the largest index. */
const INDEX_DIGITS: usize = 9

/**
 * Returns the member of a collection, like the runtime's function. The runtime finds no element of
 * an array by an index such as `1.0`, which OPA accepts; both accept no exponent.
 */
export function elementAt(collection: usize, key: usize): usize {
  if (load<u16>(key) != layout.DECIMAL) return opa_value_get(collection, key)
  if (load<u8>(collection) != layout.ARRAY) return opa_value_get(collection, key)
  const index = indexOf(key)
  if (index < 0) return 0
  const text = load<u64>(key, layout.INTEGER_VALUE)
  store<u16>(key, layout.INTEGER)
  store<i64>(key, index, layout.INTEGER_VALUE)
  const element = opa_value_get(collection, key)
  store<u64>(key, text, layout.INTEGER_VALUE)
  store<u16>(key, layout.DECIMAL)
  return element
}

/** Returns the index that a text is: digits, and perhaps a point and zeros. Otherwise -1. */
function indexOf(number: usize): i64 {
  let at: usize = load<u32>(number, layout.NUMBER_TEXT)
  const end = at + load<u32>(number, layout.NUMBER_LENGTH)
  const isNegative = load<u8>(at) == MINUS
  if (isNegative) at++
  const lastDigit = at + INDEX_DIGITS
  let index: i64 = 0
  for (; at < end && load<u8>(at) != POINT; at++) {
    const byte = load<u8>(at)
    if (at >= lastDigit || byte < ZERO || byte > NINE) return -1
    index = index * 10 + (byte - ZERO)
  }
  for (at++; at < end; at++) if (load<u8>(at) != ZERO) return -1
  return isNegative && index > 0 ? -1 : index
}
