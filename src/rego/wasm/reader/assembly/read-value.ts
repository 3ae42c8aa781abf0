import { buildArray, buildObject, writeInteger } from './build-container'
import { CLOSE_ARRAY, CLOSE_OBJECT, COLON, COMMA, OPEN_ARRAY, OPEN_OBJECT, QUOTE, skipSpace } from './bytes'
import { ensureMemory, heapEnd, PASS_BYTES, setHeapEnd } from './heap'
import { keyValue, writeString } from './key-cache'
import { readNumber } from './read-number'
import { readString, textEnd } from './scan-string'
import * as layout from './value-layout'

const MAX_DEPTH: usize = 10_000
/** A frame of an enclosing container: its last element, their number, and its closing bracket. */
const FRAME: usize = 12
export const FRAMES_BYTES: usize = FRAME * (MAX_DEPTH + 1)

let frames: usize = 0

/** The value that `readValue` read last. */
export let lastValue: usize = 0

export function placeFrames(address: usize): void {
  frames = address
}

/**
 * Reads the JSON value at `from`, inside `depth` open containers, to the heap. Returns the address
 * after it, or 0 if it is malformed, too deep or too large. Accepts the same texts as Go's
 * encoding/json.
 */
export function readValue(from: usize, depth: usize): usize {
  const deepest = frames + FRAME * (MAX_DEPTH - depth)
  let frame = frames
  let at = from
  let heap = heapEnd
  /** The open container: its newest link, number of elements, and closing bracket. */
  let last: usize = 0
  let count: u32 = 0
  let closer: u32 = 0
  while (true) {
    if (!ensureMemory(heap, PASS_BYTES)) return 0
    if (closer == CLOSE_OBJECT) {
      at = readKey(at, heap, last)
      if (at == 0 || !ensureMemory(keyEnd, PASS_BYTES)) return 0
      last = lastElement
      heap = keyEnd
    }
    const first = load<u8>(at)
    let value: usize = 0
    if (first == OPEN_OBJECT || first == OPEN_ARRAY) {
      if (frame == deepest) return 0
      saveFrame(frame, last, count, closer)
      frame += FRAME
      last = 0
      count = 0
      closer = first + 2
      at = skipSpace(at + 1)
      if (load<u8>(at) != closer) continue
    } else {
      at = readScalar(first, at, heap)
      if (at == 0) return 0
      value = scalar
      heap = scalarEnd
    }

    while (true) {
      // Without a value, the container is empty and only needs closing.
      if (value != 0) {
        if (closer == 0) return finishValue(value, heap, at)
        if (closer == CLOSE_OBJECT) store<u32>(last, value, layout.ELEMENT_VALUE)
        else {
          last = linkElement(heap, last, value, count)
          heap += layout.WORDS_BLOCK
        }
        count++
        at = skipSpace(at)
        const next = load<u8>(at)
        if (next == COMMA) break
        if (next != closer) return 0
      }
      at++
      if (!ensureMemory(heap, PASS_BYTES)) return 0
      value = heap + layout.BLOCK_HEADER
      heap = closer == CLOSE_ARRAY ? buildArray(last, count, heap) : buildObject(last, count, heap)
      if (heap == 0) return 0
      frame -= FRAME
      last = load<u32>(frame)
      count = load<u32>(frame, 4)
      closer = load<u32>(frame, 8)
    }
    at = skipSpace(at + 1)
  }
}

function finishValue(value: usize, heap: usize, at: usize): usize {
  lastValue = value
  setHeapEnd(heap)
  return at
}

function saveFrame(frame: usize, last: usize, count: u32, closer: u32): void {
  store<u32>(frame, last)
  store<u32>(frame, count, 4)
  store<u32>(frame, closer, 8)
}

/** Links an array element and its index to the previous one. Returns the link. */
function linkElement(link: usize, previous: usize, value: usize, index: u32): usize {
  writeInteger(link, index)
  store<u32>(link, previous, 4)
  store<u32>(link, value, 8)
  return link
}

/** The value that `readScalar` read, and the heap after it. */
let scalar: usize = 0
let scalarEnd: usize = 0

/** Reads a scalar by its first character. Returns the address after it, or 0. */
function readScalar(first: u32, at: usize, heap: usize): usize {
  scalar = heap + layout.BLOCK_HEADER
  scalarEnd = heap + layout.WORDS_BLOCK
  if (first == QUOTE) {
    const start = at + 1
    const after = readString(start)
    if (after != 0) writeString(heap, start, textEnd - start)
    return after
  }
  if (first - 0x30 <= 9 || first == 0x2d) return readNumber(at, heap)
  scalar = readLiteral(at, heap)
  scalarEnd = heap + layout.SMALL_BLOCK
  if (scalar == 0) return 0
  return at + (scalar == falseValue ? 5 : 4)
}

/** The element that `readKey` began, and the heap after it. */
let lastElement: usize = 0
let keyEnd: usize = 0

/** Begins an element with its key. Returns the address of its value, or 0. */
function readKey(at: usize, heap: usize, previous: usize): usize {
  if (load<u8>(at) != QUOTE) return 0
  const start = at + 1
  const after = readString(start)
  if (after == 0) return 0
  const key = keyValue(start, textEnd - start, heap)
  const block = key == heap + layout.BLOCK_HEADER ? heap + layout.WORDS_BLOCK : heap
  const element = block + layout.BLOCK_HEADER
  store<u32>(block, layout.WORDS_SIZE)
  store<u32>(element, key, layout.ELEMENT_KEY)
  store<u32>(element, previous, layout.ELEMENT_NEXT)
  lastElement = element
  keyEnd = block + layout.WORDS_BLOCK
  const colon = skipSpace(after)
  return load<u8>(colon) == COLON ? skipSpace(colon + 1) : 0
}

/** The runtime's interned `true` and `false`. */
let trueValue: usize = 0
let falseValue: usize = 0

export function placeBooleans(truth: usize, falsehood: usize): void {
  trueValue = truth
  falseValue = falsehood
}

/** Reads `true`, `false` or `null`, the latter into `block`. Returns the value, or 0. */
function readLiteral(at: usize, block: usize): usize {
  const text = load<u32>(at)
  if (text == 0x65757274) return trueValue
  if (text == 0x736c6166 && (load<u8>(at + 4) as u32) == 0x65) return falseValue
  if (text != 0x6c6c756e) return 0
  store<u32>(block, layout.SMALL_SIZE)
  store<u32>(block, layout.NULL, layout.BLOCK_HEADER)
  return block + layout.BLOCK_HEADER
}
