import { describeLine, describeRecord } from '../records/describe-record.js'
import { continuationOf, JOURNAL_BEGINNING, stateAfterHead } from './continuation.js'
import type { TraceState } from './continuation.js'

/** An event of one line, or of the several lines of a stack trace. */
export interface LogEvent {
  readonly text: string
  /** How many lines it came from. */
  readonly lines: number
  /** The time of its first line; NaN if not known. */
  readonly atMs: number
}

/**
 * Maximum number of kept lines of an event: the first frames distinguish traces, the hundredth does
 * not.
 */
const MAX_KEPT_LINES = 100
/** Lines of one event are written within milliseconds, and delivered within seconds. */
const LONGEST_PAUSE_MS = 5000

/** Puts the lines of a stack trace together, as they come. */
export class EventJoiner {
  #kept: string[] = []
  #lines = 0
  #atMs = Number.NaN
  #state: TraceState = 'none'
  #lastMs = Number.NaN

  /**
   * Adds the next line, with its time in milliseconds if known. Returns the previous event if it is
   * complete.
   */
  add(given: string, atMs = Number.NaN): LogEvent | undefined {
    // Lines of Windows end with a carriage return, which hides the end of a frame.
    const line = given.endsWith('\r') ? given.slice(0, -1) : given
    const isLongAgo = atMs - this.#lastMs > LONGEST_PAUSE_MS
    this.#lastMs = atMs
    const soFar = { kept: this.#kept, state: this.#state, isLongAgo }
    const next = this.#lines === 0 ? undefined : continuationOf(line, soFar)
    if (next !== undefined) {
      this.#state = next
      this.#lines += 1
      if (this.#kept.length < MAX_KEPT_LINES) this.#kept.push(line)
      return undefined
    }
    const complete = this.end()
    this.#kept = [line]
    this.#lines = 1
    this.#atMs = atMs
    this.#state = stateAfterHead(line)
    return complete
  }

  /** The last event, when nothing comes any more. */
  end(): LogEvent | undefined {
    if (this.#lines === 0) return undefined
    const text = this.#kept.join('\n')
    // Composed and decomposed characters look alike and are one template.
    const event = {
      text: describeEvent(text, this.#kept).normalize('NFC'),
      lines: this.#lines,
      atMs: this.#atMs,
    }
    this.#lines = 0
    return event
  }
}

/**
 * Some writers spread a JSON object over several lines, and the journal of systemd spreads the
 * fields of an entry.
 */
function describeEvent(text: string, lines: readonly string[]): string {
  const [head = ''] = lines
  if (head === '{') return describeLine(text)
  if (!head.startsWith(JOURNAL_BEGINNING)) return text
  const fields = lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)])
  return describeRecord(Object.fromEntries(fields)) ?? text
}
