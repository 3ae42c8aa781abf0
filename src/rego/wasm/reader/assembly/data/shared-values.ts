import { hashText } from '../key-cache'
import { BIG_NUMBER, INTEGER, INTEGER_VALUE, STRING, STRING_LENGTH, STRING_TEXT } from '../value-layout'
import { allocate, localAddress, SLOT_BYTES, slotOf, moduleAddress } from './regions'

/**
 * Equal values of base documents are shared, since they never change. Old entries may be evicted;
 * their values are then written again.
 */
const ENTRY_BYTES: usize = 8
const STRING_BYTES: usize = 12
const INTEGER_BYTES: usize = 16
/** Type, text, length, and a flag that the text is not owned by the number. */
const BIG_NUMBER_BYTES: usize = 20
const NUMBER_TEXT: usize = 8
const NUMBER_LENGTH: usize = 12
const NUMBER_OWNS_TEXT: usize = 16

let turn: usize = 0

/** The runtime's hash of the last text passed to `textValue`. */
export let textHash: u32 = 0

/** Stores a value for reuse. */
export function remember(hash: u32, value: usize): void {
  const entry = slotOf(hash) + (turn++ & (SLOT_BYTES / ENTRY_BYTES - 1)) * ENTRY_BYTES
  store<u32>(entry, hash)
  store<u32>(entry, value, 4)
}

/** Returns the string value of a text in this memory, or 0 if memory runs out. */
export function textValue(start: usize, length: usize): usize {
  const hash = hashText(start, length)
  textHash = hash
  const slot = slotOf(hash)
  for (let entry = slot; entry < slot + SLOT_BYTES; entry += ENTRY_BYTES) {
    const known: usize = load<u32>(entry, 4)
    if (load<u32>(entry) == hash && known != 0 && isText(localAddress(known), start, length)) return known
  }
  const local = allocate(STRING_BYTES + length)
  if (local == 0) return 0
  store<u32>(local, STRING)
  store<u32>(local, length, STRING_LENGTH)
  store<u32>(local, moduleAddress(local + STRING_BYTES), STRING_TEXT)
  memory.copy(local + STRING_BYTES, start, length)
  remember(hash, moduleAddress(local))
  return moduleAddress(local)
}

/** The value of a small integer. */
export function integerValue(value: i64): usize {
  const hash = (value as u32) ^ INTEGER
  const slot = slotOf(hash)
  for (let entry = slot; entry < slot + SLOT_BYTES; entry += ENTRY_BYTES) {
    const known: usize = load<u32>(entry, 4)
    if (load<u32>(entry) != hash || known == 0 || load<u32>(localAddress(known)) != INTEGER) continue
    if (load<i64>(localAddress(known), INTEGER_VALUE) == value) return known
  }
  const local = writeInteger(value)
  if (local != 0) remember(hash, moduleAddress(local))
  return local == 0 ? 0 : moduleAddress(local)
}

/** Writes an unshared integer and returns its address. */
export function writeInteger(value: i64): usize {
  const local = allocate(INTEGER_BYTES)
  if (local == 0) return 0
  store<u32>(local, INTEGER)
  store<i64>(local, value, INTEGER_VALUE)
  return local
}

/** Returns the value of a number that is stored as text. */
export function bigNumberValue(start: usize, length: usize): usize {
  const text = textValue(start, length)
  if (text == 0) return 0
  const hash = textHash ^ BIG_NUMBER
  const slot = slotOf(hash)
  for (let entry = slot; entry < slot + SLOT_BYTES; entry += ENTRY_BYTES) {
    const known: usize = load<u32>(entry, 4)
    if (load<u32>(entry) != hash || known == 0 || load<u32>(localAddress(known)) != BIG_NUMBER) continue
    if (load<u32>(localAddress(known), NUMBER_LENGTH) != (length as u32)) continue
    if (memory.compare(localAddress(load<u32>(localAddress(known), NUMBER_TEXT)), start, length) == 0)
      return known
  }
  const local = allocate(BIG_NUMBER_BYTES)
  if (local == 0) return 0
  store<u32>(local, BIG_NUMBER)
  store<u32>(local, load<u32>(localAddress(text), STRING_TEXT), NUMBER_TEXT)
  store<u32>(local, length, NUMBER_LENGTH)
  store<u32>(local, 0, NUMBER_OWNS_TEXT)
  remember(hash, moduleAddress(local))
  return moduleAddress(local)
}

function isText(value: usize, start: usize, length: usize): bool {
  if (load<u32>(value) != STRING || (load<u32>(value, STRING_LENGTH) as usize) != length) return false
  return memory.compare(localAddress(load<u32>(value, STRING_TEXT)), start, length) == 0
}
