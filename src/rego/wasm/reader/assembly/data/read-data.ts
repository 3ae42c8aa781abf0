import { allowComparisons } from '../build-container'
import { CLOSE_ARRAY, CLOSE_OBJECT, COLON, COMMA, OPEN_ARRAY, OPEN_OBJECT, QUOTE, skipSpace } from '../bytes'
import { fractionEnd, integerEnd, integerOf, MAX_INTEGER_DIGITS } from '../read-number'
import { readString, textEnd } from '../scan-string'
import { INTERNED_BOOLEAN, NULL } from '../value-layout'
import { arrayValue, beginContainers, MEMBER_BYTES, objectValue } from './containers'
import {
  allocate,
  imageEnd,
  imageStart,
  pendingEnd,
  pendingStart,
  placeRegions,
  textStart,
  moduleAddress,
} from './regions'
import { bigNumberValue, integerValue, textHash, textValue } from './shared-values'

const MAX_DEPTH: u32 = 10_000
/** A frame of an open container: the enclosing container and its closing bracket. */
const FRAME_BYTES: usize = 8
const PASS_BYTES: usize = 64
const END_BYTES: usize = 32
const COMPARISONS_PER_BYTE: i64 = 16
const MIN_COMPARISONS: i64 = 4096
const MINUS: u32 = 0x2d
const TRUE_BYTE: u32 = 1 << 8

let nullValue: usize = 0
let trueValue: usize = 0
let falseValue: usize = 0
let value: usize = 0
let isMemoryShort = false

/**
 * Reserves memory for texts of `textBytes` bytes and an image for the address `base`. Returns the
 * address for the texts, or 0 if memory runs out.
 */
export function openData(textBytes: usize, pendingBytes: usize, base: usize): usize {
  if (!placeRegions(textBytes, pendingBytes, base) || !beginContainers()) return 0
  const scalars = allocate(12)
  if (scalars == 0) return 0
  store<u32>(scalars, NULL)
  store<u32>(scalars, INTERNED_BOOLEAN | TRUE_BYTE, 4)
  store<u32>(scalars, INTERNED_BOOLEAN, 8)
  nullValue = moduleAddress(scalars)
  trueValue = moduleAddress(scalars + 4)
  falseValue = moduleAddress(scalars + 8)
  return textStart()
}

/** Reads the JSON text. Returns the offset after it and white space, or 0. */
export function readData(length: usize): usize {
  memory.fill(textStart() + length, 0, END_BYTES)
  allowComparisons(length * COMPARISONS_PER_BYTE + MIN_COMPARISONS)
  isMemoryShort = false
  const after = readPendingValue(skipSpace(textStart()))
  return after == 0 ? 0 : skipSpace(after) - textStart()
}

/** Returns the address of the last value read. */
export function dataValue(): usize {
  return value
}

/** True if memory ran out during the last reading. */
export function ranOut(): bool {
  return isMemoryShort
}

/** Returns the string value of the text, to be used as a key at `membersAt`. */
export function makeText(length: usize): usize {
  return textValue(textStart(), length)
}

/** Returns the hash of the last key from `makeText`, for its member. */
export function hashOfText(): u32 {
  return textHash
}

/** Returns the address for the members of `makeObject`: key, hash and value, a word each. */
export function membersAt(): usize {
  return pendingStart()
}

/** Builds the object of the members at `membersAt`. Returns its address, or 0. */
export function makeObject(count: u32): usize {
  allowComparisons(MIN_COMPARISONS + (count << 6))
  return objectValue(pendingStart(), count)
}

export function startOfImage(): usize {
  return imageStart()
}

export function endOfImage(): usize {
  return imageEnd()
}

function readPendingValue(from: usize): usize {
  let at = from
  let top = pendingStart()
  let frame: usize = 0
  let closer: u32 = 0
  let depth: u32 = 0
  while (true) {
    if (top + PASS_BYTES > pendingEnd()) return shortOfMemory()
    if (closer == CLOSE_OBJECT) {
      at = readKey(at, top)
      if (at == 0) return 0
    }
    const first = load<u8>(at)
    let read: usize = 0
    if (first == OPEN_OBJECT || first == OPEN_ARRAY) {
      if (++depth > MAX_DEPTH) return 0
      // The key of a container that begins here is pending below it.
      if (closer == CLOSE_OBJECT) top += MEMBER_BYTES
      store<u32>(top, frame)
      store<u32>(top, closer, 4)
      frame = top
      top += FRAME_BYTES
      closer = first + 2
      at = skipSpace(at + 1)
      if (load<u8>(at) != closer) continue
    } else {
      at = readScalar(first, at)
      if (at == 0) return 0
      read = scalar
    }
    while (true) {
      // Without a value, the container is empty and only needs closing.
      if (read != 0) {
        if (closer == 0) {
          value = read
          return at
        }
        store<u32>(closer == CLOSE_OBJECT ? top + 8 : top, read)
        top += closer == CLOSE_OBJECT ? MEMBER_BYTES : 4
        at = skipSpace(at)
        const next = load<u8>(at)
        if (next == COMMA) break
        if (next != closer) return 0
      }
      at++
      const start = frame + FRAME_BYTES
      const bytes = top - start
      read =
        closer == CLOSE_ARRAY
          ? arrayValue(start, (bytes >> 2) as u32)
          : objectValue(start, (bytes / MEMBER_BYTES) as u32)
      if (read == 0) return shortOfMemory()
      top = frame
      closer = load<u32>(frame, 4)
      frame = load<u32>(frame)
      depth--
      if (closer == CLOSE_OBJECT) top -= MEMBER_BYTES
    }
    at = skipSpace(at + 1)
  }
}

function shortOfMemory(): usize {
  isMemoryShort = true
  return 0
}

/** Stores the key of a member at `top`. Returns the address of its value, or 0. */
function readKey(at: usize, top: usize): usize {
  if (load<u8>(at) != QUOTE) return 0
  const after = readString(at + 1)
  if (after == 0) return 0
  const key = textValue(at + 1, textEnd - at - 1)
  if (key == 0) return shortOfMemory()
  store<u32>(top, key)
  store<u32>(top, textHash, 4)
  const colon = skipSpace(after)
  return load<u8>(colon) == COLON ? skipSpace(colon + 1) : 0
}

let scalar: usize = 0

function readScalar(first: u32, at: usize): usize {
  if (first == QUOTE) {
    const after = readString(at + 1)
    if (after == 0) return 0
    scalar = textValue(at + 1, textEnd - at - 1)
    return scalar == 0 ? shortOfMemory() : after
  }
  if (first - 0x30 <= 9 || first == MINUS) return readNumber(at)
  const text = load<u32>(at)
  if (text == 0x65757274) {
    scalar = trueValue
    return at + 4
  }
  if (text == 0x6c6c756e) {
    scalar = nullValue
    return at + 4
  }
  scalar = falseValue
  return text == 0x736c6166 && load<u8>(at + 4) == 0x65 ? at + 5 : 0
}

function readNumber(at: usize): usize {
  const isNegative = load<u8>(at) == MINUS
  const first = isNegative ? at + 1 : at
  const whole = integerEnd(first)
  if (whole == 0) return 0
  const after = fractionEnd(whole)
  if (after == 0) return 0
  const isPlain =
    after == whole && whole - first <= MAX_INTEGER_DIGITS && !(isNegative && load<u8>(first) == 0x30)
  scalar = isPlain
    ? integerValue(isNegative ? -integerOf(first, whole) : integerOf(first, whole))
    : bigNumberValue(at, after - at)
  return scalar == 0 ? shortOfMemory() : after
}
