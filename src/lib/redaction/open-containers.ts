import * as json from '../json/scan/json-bytes.js'
import { labelRole } from './labelled-values.js'

/** In which state the beginning of a JSON text ends. */
export interface OpenContainers {
  /** Where the objects and arrays begin that have no end, the outermost first. */
  readonly open: readonly number[]
  /** Whether one of them has a member that may be a value with a label beside it (`{"name":…,"value":…}`). */
  readonly hasValue: boolean
  /** Where the last text begins, unless a bracket follows it; else -1. */
  readonly textFrom: number
  /** Whether that text has no end. */
  readonly isInText: boolean
  /** The offset after the last text or bracket, where the last text has an end. */
  readonly rest: number
  /** The last bracket; 0 where there is none. */
  readonly lastBracket: number
}

/** Reads how the beginning of a JSON text is at its end: looks at texts and brackets alone. */
export function readOpenContainers(bytes: Buffer): OpenContainers {
  const open: number[] = []
  /** For each open container whether it has such a member; undefined for arrays. */
  const withValue: (boolean | undefined)[] = []
  let textFrom = -1
  let isInText = false
  let rest = 0
  let lastBracket = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0
    if (byte === json.QUOTE) {
      textFrom = at
      at = endOfText(bytes, at)
      isInText = at === bytes.length
      if (isInText) break
      rest = at + 1
      const last = open.length - 1
      if (withValue[last] === false && isValueName(bytes, textFrom, at)) withValue[last] = true
      continue
    }
    const isOpening = byte === json.OPEN_OBJECT || byte === json.OPEN_ARRAY
    if (!isOpening && byte !== json.CLOSE_OBJECT && byte !== json.CLOSE_ARRAY) continue
    textFrom = -1
    lastBracket = byte
    rest = at + 1
    if (isOpening) {
      open.push(at)
      withValue.push(byte === json.OPEN_OBJECT ? false : undefined)
    } else {
      open.pop()
      withValue.pop()
    }
  }
  return { open, hasValue: withValue.includes(true), textFrom, isInText, rest, lastBracket }
}

/** Where the closing quote is of the text that begins there, or the end of the bytes. */
function endOfText(bytes: Buffer, start: number): number {
  let at = start + 1
  while (at < bytes.length && bytes[at] !== json.QUOTE) at += bytes[at] === json.BACKSLASH ? 2 : 1
  return Math.min(at, bytes.length)
}

/** 1 for what such a name begins with: a look at one byte spares most names the look at all of them. */
const BEGINS_NAME = json.byteTable((_, char) => /[vds]/i.test(char))
const LONGEST_NAME = 12

/** Whether the text between these quotes is the name of a member that is a value with a label. */
function isValueName(bytes: Buffer, open: number, close: number): boolean {
  if (BEGINS_NAME[bytes[open + 1] ?? 0] === 0 || close - open - 1 > LONGEST_NAME) return false
  const role = labelRole(bytes.toString('latin1', open + 1, close))
  return (role === 'value' || role === 'kubernetesValue') && !isAfterColon(bytes, open)
}

function isAfterColon(bytes: Buffer, quote: number): boolean {
  let at = quote - 1
  while (at >= 0 && (bytes[at] ?? 0) <= 0x20) at--
  return bytes[at] === json.COLON
}
