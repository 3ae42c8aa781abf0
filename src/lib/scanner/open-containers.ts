import { openScanner, TEXT_BYTES } from './scanner.js'
import type { Scanner } from './scanner.js'

/** In which state the beginning of a JSON text ends. */
export interface OpenContainers {
  /** Where the objects and arrays begin that have no end, the outermost first. */
  readonly open: readonly number[]
  /** Whether one of them has a member that may be a value with a label beside it (`{"name":…,"value":…}`). */
  readonly hasValue: boolean
  /** Where the last text begins, unless a bracket is behind it; else -1. */
  readonly textFrom: number
  /** Whether that text has no end. */
  readonly isInText: boolean
  /** Behind the last text or bracket, where the last text has an end. */
  readonly rest: number
  /** The last bracket; 0 where there is none. */
  readonly lastBracket: number
}

/** As `assembly/open-containers.ts` has it. */
const MAX_DEPTH = 4096
const HAS_VALUE = 1

let scanner: Scanner | undefined

/**
 * How the beginning of a JSON text is at its end, which is found in WebAssembly: only texts and brackets are looked at. Undefined where
 * more than 4,096 containers are open at once.
 */
export function readOpenContainers(bytes: Uint8Array): OpenContainers | undefined {
  scanner ??= openScanner()
  const { memory, text, depth, containers } = scanner
  scanner.beginContainers()
  for (let from = 0; from < bytes.length; from += TEXT_BYTES) {
    const part = bytes.length <= TEXT_BYTES ? bytes : bytes.subarray(from, from + TEXT_BYTES)
    new Uint8Array(memory.buffer, text.value, TEXT_BYTES).set(part)
    scanner.readContainers(part.length)
  }
  const count = depth.value
  if (count > MAX_DEPTH) return undefined
  const pairs = new Uint32Array(memory.buffer, containers.value, 2 * count)
  return {
    open: Array.from({ length: count }, (_, index) => pairs[2 * index] ?? 0),
    hasValue: pairs.some((flags, index) => index % 2 === 1 && flags === HAS_VALUE),
    textFrom: scanner.textFrom.value,
    isInText: scanner.isInText.value === 1,
    rest: scanner.rest.value,
    lastBracket: scanner.lastBracket.value,
  }
}
