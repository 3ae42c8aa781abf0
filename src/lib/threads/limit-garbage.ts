import { keepFlag } from './v8-flags.js'

/** Of a body that is larger than that, three copies are in use at once and another waits to be freed. */
const LARGE_BYTES = 4 * 1024 * 1024
const PERCENT_FOR_LARGE = 400
const LARGE_FOR_MS = 10_000

/** What it was limited to; undefined where V8's own rule holds. */
let usualPercent: number | undefined
let forLarge: NodeJS.Timeout | undefined

/** Lets every heap of the process grow by no more than this share of what is in use, in percent, before V8 marks the whole of it. */
export function limitGarbage(percent: number): void {
  usualPercent = percent
  setPercent(percent)
}

/**
 * Tells of a body that is read. Large ones lie outside of the heap, but are counted with it: as long as they come, it may grow further, as V8 would mark all of it
 * for every other one, which took a fifth of the time for 10 MB.
 */
export function makeRoomForBody(bytes: number): void {
  if (bytes <= LARGE_BYTES || usualPercent === undefined) return
  if (forLarge === undefined) setPercent(Math.max(usualPercent, PERCENT_FOR_LARGE))
  forLarge ??= setTimeout(endRoom, LARGE_FOR_MS).unref()
  forLarge.refresh()
}

function endRoom(): void {
  forLarge = undefined
  if (usualPercent !== undefined) setPercent(usualPercent)
}

function setPercent(percent: number): void {
  keepFlag('heap-growing-percent', percent)
}
