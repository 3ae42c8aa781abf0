import { allowComparisons } from './build-container'
import { CLOSE_OBJECT, COLON, COMMA, OPEN_OBJECT, QUOTE, skipSpace } from './bytes'
import { heapEnd, ensureMemory, setHeapEnd } from './heap'
import { forgetKeys, KEY_CACHE_BYTES, placeKeyCache } from './key-cache'
import { opa_heap_ptr_set } from './policy'
import { leftOverNumbers, readLeftOverNumbers, setLeftOverNumbers } from './read-number'
import { FRAMES_BYTES, lastValue, placeBooleans, placeFrames, readValue } from './read-value'
import { readString, textEnd } from './scan-string'

/** Zeros after the body, which end searches and allow reading sixteen bytes at once. */
const END_BYTES: usize = 32
/** Only `null` begins with this letter. */
const LOWER_N: u32 = 0x6e
const COMPARISONS_PER_BYTE: i64 = 4
const MIN_COMPARISONS: i64 = 4096

let inputStart: usize = 0
let inputEnd: usize = 0

/** Returns the size of the memory for `prepare` in bytes. */
export function scratchBytes(): usize {
  return FRAMES_BYTES + KEY_CACHE_BYTES + 64
}

/** Sets the address of the reader's notes and the runtime's values of `true` and `false`. */
export function prepare(scratch: usize, truth: usize, falsehood: usize): void {
  const aligned = (scratch + 15) & ~15
  placeBooleans(truth, falsehood)
  placeKeyCache(aligned)
  placeFrames(aligned + KEY_CACHE_BYTES)
}

/** Reads the body's `input`. Returns its value, or 0 if missing or not readable here. */
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
    // The last of several counts.
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

/** Reads the document at an address. Returns its value, or 0 if not readable here. */
export function readDocument(body: usize, length: usize): usize {
  if (!begin(body, length)) return 0
  return readValue(skipSpace(body), 0) == 0 ? 0 : lastValue
}

/** Offset of the last `input` in the body. */
export function startOfInput(): usize {
  return inputStart
}

export function endOfInput(): usize {
  return inputEnd
}

/** Passes the heap and the remaining numbers to the policy module. */
export function finish(): void {
  opa_heap_ptr_set(heapEnd)
  readLeftOverNumbers()
}

function begin(body: usize, length: usize): bool {
  const end = body + length
  if (!ensureMemory(end, END_BYTES + 8)) return false
  memory.fill(end, 0, END_BYTES)
  setHeapEnd((end + END_BYTES + 7) & ~7)
  setLeftOverNumbers(0)
  forgetKeys()
  allowComparisons(length * COMPARISONS_PER_BYTE + MIN_COMPARISONS)
  return true
}

/** Checks a member other than `input` and frees its memory. */
function skipMember(start: usize): usize {
  const heapBefore = heapEnd
  const numbersBefore = leftOverNumbers()
  const after = readValue(start, 1)
  setHeapEnd(heapBefore)
  setLeftOverNumbers(numbersBefore)
  forgetKeys()
  return after
}

/** Matches `input` in any letter case, as Go matches field names. */
function isInputKey(start: usize): bool {
  if (textEnd - start != 5) return false
  return (load<u32>(start) | 0x20202020) == 0x75706e69 && (load<u8>(start + 4) | 0x20) == 0x74
}
