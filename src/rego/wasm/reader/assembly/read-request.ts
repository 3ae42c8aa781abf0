import { allowComparisons } from './build-container'
import { CLOSE_OBJECT, COLON, COMMA, OPEN_OBJECT, QUOTE, skipSpace } from './bytes'
import { heapEnd, hasRoom, setHeapEnd } from './heap'
import { forgetKeys, KEY_CACHE_BYTES, placeKeyCache } from './key-cache'
import { opa_heap_ptr_set } from './policy'
import { leftOverNumbers, readLeftOverNumbers, setLeftOverNumbers } from './read-number'
import { FRAMES_BYTES, lastValue, placeBooleans, placeFrames, readValue } from './read-value'
import { readString, textEnd } from './scan-string'

/** Zeros after the body end every run of characters, and let sixteen bytes be looked at together. */
const END_BYTES: usize = 32
/** Only `null` begins with it. */
const LOWER_N: u32 = 0x6e
const COMPARISONS_PER_BYTE: i64 = 4
const LEAST_COMPARISONS: i64 = 4096

let inputStart: usize = 0
let inputEnd: usize = 0

/** The bytes that the reader wants for itself, at an address that is given to `prepare`. */
export function scratchBytes(): usize {
  return FRAMES_BYTES + KEY_CACHE_BYTES + 64
}

/** Tells where the reader may keep its notes, and which values the runtime has for `true` and `false`. */
export function prepare(scratch: usize, truth: usize, falsehood: usize): void {
  const aligned = (scratch + 15) & ~15
  placeBooleans(truth, falsehood)
  placeKeyCache(aligned)
  placeFrames(aligned + KEY_CACHE_BYTES)
}

/** Reads the `input` member of the request body at an address: gives its value, or 0 where there is none, or not to be read. */
export function readRequest(body: usize, length: usize): usize {
  if (!begin(body, length)) return 0
  let at = skipSpace(body)
  if (load<u8>(at) != OPEN_OBJECT) return 0
  at = skipSpace(at + 1)
  let value: usize = 0
  while (true) {
    if (load<u8>(at) != QUOTE) return 0
    const keyStart = at + 1
    at = readString(keyStart)
    if (at == 0) return 0
    const isInput = isInputKey(keyStart)
    at = skipSpace(at)
    if (load<u8>(at) != COLON) return 0
    const start = skipSpace(at + 1)
    // Of several, the last counts.
    if (isInput) setLeftOverNumbers(0)
    at = isInput ? readValue(start, 1) : skipMember(start)
    if (at == 0) return 0
    if (isInput) {
      value = lastValue
      inputStart = start - body
      inputEnd = at - body
    }
    at = skipSpace(at)
    const next = load<u8>(at)
    if (next == CLOSE_OBJECT) break
    if (next != COMMA) return 0
    at = skipSpace(at + 1)
  }
  return value == 0 || load<u8>(body + inputStart) == LOWER_N ? 0 : value
}

/** Reads the document at an address, whatever follows it: gives its value, or 0 when it is not to be read. */
export function readDocument(body: usize, length: usize): usize {
  if (!begin(body, length)) return 0
  return readValue(skipSpace(body), 0) == 0 ? 0 : lastValue
}

/** Offsets in the body of the `input` that was read last. */
export function startOfInput(): usize {
  return inputStart
}

export function endOfInput(): usize {
  return inputEnd
}

/** Leaves the heap to the policy module, and to it the numbers that are no small integers. */
export function finish(): void {
  opa_heap_ptr_set(heapEnd)
  readLeftOverNumbers()
}

function begin(body: usize, length: usize): bool {
  const end = body + length
  if (!hasRoom(end, END_BYTES + 8)) return false
  memory.fill(end, 0, END_BYTES)
  setHeapEnd((end + END_BYTES + 7) & ~7)
  setLeftOverNumbers(0)
  forgetKeys()
  allowComparisons(length * COMPARISONS_PER_BYTE + LEAST_COMPARISONS)
  return true
}

/** Members beside `input` are only checked: what they took of the heap is given back. */
function skipMember(start: usize): usize {
  const heapBefore = heapEnd
  const numbersBefore = leftOverNumbers()
  const after = readValue(start, 1)
  setHeapEnd(heapBefore)
  setLeftOverNumbers(numbersBefore)
  forgetKeys()
  return after
}

/** `input` in any letter case, as Go matches the names of fields. */
function isInputKey(start: usize): bool {
  if (textEnd - start != 5) return false
  return (load<u32>(start) | 0x20202020) == 0x75706e69 && (load<u8>(start + 4) | 0x20) == 0x74
}
