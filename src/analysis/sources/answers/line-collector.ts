import { withoutColours } from '../../../lib/text/shown-text.js'
import { PackedList } from '../../../lib/packing/packed-list.js'
import type { LineData, LineLimits, TimeWindow } from '../../sources.js'

/** Maximum stored length of a line, in UTF-16 units. */
const MAX_LINE_LENGTH = 16_384
/** Maximum stored length of each string of a longer JSON line. */
const MAX_TEXT_LENGTH = 1000

/** Lines of a window up to the limits. */
export class LineCollector {
  readonly lines = new PackedList<LineData>()
  readonly limits: LineLimits
  readonly #startMs: number
  /** The time of the last line; NaN if it has none, or if there is no line. */
  lastMs = Number.NaN
  /** Whether a line came that no longer fitted. */
  isFull = false
  #bytes = 0
  #cut = 0

  constructor(limits: LineLimits, { startMs }: TimeWindow) {
    this.limits = limits
    this.#startMs = startMs
  }

  /** Takes a line; false when it does not fit any more, and then no other is to follow. */
  add(atMs: number, given: string): boolean {
    const text = withoutColours(given)
    const kept = text.length > MAX_LINE_LENGTH ? this.#cutShort(text) : text
    const bytes = Buffer.byteLength(kept)
    if (this.lines.length >= this.limits.maxLines || this.#bytes + bytes > this.limits.maxBytes) {
      this.isFull = true
      return false
    }
    this.#bytes += bytes
    this.lines.add([Number.isNaN(atMs) ? null : atMs - this.#startMs, kept])
    this.lastMs = atMs
    return true
  }

  /** Describes lines that were shortened in reading. */
  describeCuts(): string[] {
    return this.#cut === 0 ? [] : [`lines cut after ${MAX_LINE_LENGTH} characters: ${this.#cut}`]
  }

  #cutShort(text: string): string {
    this.#cut += 1
    return (text.startsWith('{') ? shorterRecord(text) : undefined) ?? text.slice(0, MAX_LINE_LENGTH)
  }
}

/**
 * A JSON object with shortened strings, which can still be parsed. Undefined if that is too long,
 * too.
 */
function shorterRecord(text: string): string | undefined {
  try {
    const short = JSON.stringify(JSON.parse(text), (_, value: unknown) =>
      typeof value === 'string' ? value.slice(0, MAX_TEXT_LENGTH) : value,
    )
    return short.length > MAX_LINE_LENGTH ? undefined : short
  } catch {
    return undefined
  }
}

/** The narrower of two sets of limits. */
export function narrowed(limits: LineLimits, wanted: Partial<LineLimits> = {}): LineLimits {
  return {
    maxLines: Math.min(limits.maxLines, wanted.maxLines ?? Infinity),
    maxBytes: Math.min(limits.maxBytes, wanted.maxBytes ?? Infinity),
  }
}
