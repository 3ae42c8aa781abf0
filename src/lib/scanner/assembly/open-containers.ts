import { text } from './text'

/** How deep containers may stand. */
const MAX_DEPTH: i32 = 4096
/** Of each object and array without an end, the outermost first: where it begins, and whether a member of it is a value with a label. */
export const containers: usize = memory.data(0x8000, 16)

/** How many containers have no end; more than `MAX_DEPTH` where there were too many at once. */
export let depth: i32 = 0
/** Where the last text begins that is behind all brackets, or -1. */
export let textFrom: i32 = -1
/** Whether that text has no end. */
export let isInText: bool = false
/** Behind the last text or bracket. */
export let rest: i32 = 0
/** The last bracket, or 0. */
export let lastBracket: u32 = 0

/** How much was read before the text that is there now. */
let base: i32 = 0
/** Whether the first byte of what comes next belongs to an escape. */
let isEscaped: bool = false

const QUOTE: u32 = 0x22
const COLON: u32 = 0x3a
const OPEN_ARRAY: u32 = 0x5b
const BACKSLASH: u32 = 0x5c
const OPEN_OBJECT: u32 = 0x7b
const SPACE: u32 = 0x20

/** The flags of a container: an array, and one that a labelled value was seen in. */
const NO_MEMBERS: u32 = 2
const HAS_VALUE: u32 = 1

/** To be called before the first part of a JSON text. */
export function beginContainers(): void {
  depth = 0
  textFrom = -1
  isInText = false
  rest = 0
  lastBracket = 0
  base = 0
  isEscaped = false
}

/** Reads the next part of a JSON text, so many bytes. */
export function readContainers(length: usize): void {
  const end = text + length
  v128.store(end, i8x16.splat(0))
  let passedOver = isEscaped ? text : 0
  isEscaped = false
  for (let block = text; block < end; block += 16) {
    let found = structureOf(v128.load(block))
    while (found != 0) {
      const at = block + (ctz(found) as usize)
      found &= found - 1
      if (at == passedOver) continue
      const byte: u32 = load<u8>(at)
      if (byte == BACKSLASH) {
        if (isInText) passedOver = at + 1
      } else if (byte == QUOTE) passQuote(at)
      else if (!isInText) passBracket(at, byte)
    }
  }
  if (passedOver == end) isEscaped = true
  base += length as i32
}

/** A bit for each quote, backslash and bracket. `[` and `{`, `]` and `}` are the same but for one bit. */
function structureOf(block: v128): i32 {
  const brackets = v128.and(block, i8x16.splat(-0x21))
  const ofBrackets = v128.or(i8x16.eq(brackets, i8x16.splat(0x5b)), i8x16.eq(brackets, i8x16.splat(0x5d)))
  const ofTexts = v128.or(i8x16.eq(block, i8x16.splat(0x22)), i8x16.eq(block, i8x16.splat(0x5c)))
  return i8x16.bitmask(v128.or(ofBrackets, ofTexts))
}

function passQuote(at: usize): void {
  if (isInText) {
    noteMember(at)
    rest = placeOf(at) + 1
  } else textFrom = placeOf(at)
  isInText = !isInText
}

function passBracket(at: usize, bracket: u32): void {
  textFrom = -1
  lastBracket = bracket
  rest = placeOf(at) + 1
  if (bracket != OPEN_ARRAY && bracket != OPEN_OBJECT) {
    if (depth > 0) depth--
    return
  }
  if (depth < MAX_DEPTH) {
    const container = containers + ((depth as usize) << 3)
    store<u32>(container, placeOf(at))
    store<u32>(container, bracket == OPEN_OBJECT ? 0 : NO_MEMBERS, 4)
  }
  depth++
}

function placeOf(at: usize): i32 {
  return base + ((at - text) as i32)
}

/** Notes in the innermost container that a member of it is a value with a label, when the text that ends there is the name of one. */
function noteMember(end: usize): void {
  if (depth == 0 || depth > MAX_DEPTH) return
  const flags = containers + ((depth - 1) << 3) + 4
  if (load<u32>(flags) != 0) return
  const offset = textFrom - base
  // What began in an earlier part may be any name.
  if (
    offset < 0 ||
    (isValueName(text + (offset as usize) + 1, end) && !isAfterColon(text + (offset as usize)))
  ) {
    store<u32>(flags, HAS_VALUE)
  }
}

/** Whether it is the name of a value with a label (redaction/labelled-values.ts); in any letter case, so that it may find more. */
function isValueName(start: usize, end: usize): bool {
  const first = load<u32>(start) | 0x20202020
  switch ((end - start) as i32) {
    case 4: // data
      return first == 0x61746164
    case 5: // value
    case 6: // values
      return first == 0x756c6176 && (load<u8>(start, 4) | 0x20) == 0x65
    case 7: // default
    case 12: // defaultValue
      return first == 0x61666564 && (load<u16>(start, 4) | 0x2020) == 0x6c75
    case 10: // stringData
      return first == 0x69727473 && (load<u32>(start, 4) | 0x20202020) == 0x6164676e
    default:
      return false
  }
}

function isAfterColon(quote: usize): bool {
  let at = quote - 1
  while (at >= text && load<u8>(at) <= SPACE) at--
  return at >= text && load<u8>(at) == COLON
}
