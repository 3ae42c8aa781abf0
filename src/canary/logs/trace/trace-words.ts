import type { ScannedLine } from '../masking/scan-words.js'
import { PYTHON_BEGINNING } from './continuation.js'
import { frameName, isOwnFrame } from './frame.js'

const TYPE =
  /(?:^|[\s:;,([=])((?:[A-Za-z_][\w$]*(?:\.|\\|::))*[A-Z][\w$]*(?:Exception|Error|Throwable|Warning|Interrupt|Exit|Fault))(?=[\s:;,)\]]|$)/
/** Where in a line the type of an exception is looked for. */
const MAX_TYPE_WITHIN = 1000
/** Ruby writes where, what and the type of the exception in one line. */
const RUBY_HEAD = /^[^\s:]+:\d+:in [`'][^']+': /
const PANIC = /^panic:|^fatal error:|panicked at/m
/** `QuerySet$$Lambda$14/0x00` and `<lambda_7>`: what the run time numbers changes from start to start. */
const NUMBERED = /(?<=\$\$?)\w*\d\w*(?:\/0x[0-9a-f]+)?|(?<=lambda_?)\d+/g

/**
 * The words of a stack trace: the type of its exception and the first frame of the program's own code (without line
 * numbers), by which two traces are one event whatever their messages. Undefined when the event is none.
 */
export function traceWords(event: string): ScannedLine | undefined {
  if (!event.includes('\n')) return undefined
  const lines = event.split('\n')
  const frames = lines.map(frameName).filter((name) => name !== undefined)
  const type = typeOf(event, lines)
  if (frames.length === 0 || type === undefined) return undefined
  // Python writes the innermost call last, all others first.
  const inner = event.includes(PYTHON_BEGINNING) ? frames.toReversed() : frames
  const frame = inner.find(isOwnFrame) ?? inner[0] ?? ''
  return { words: [type, 'at', frame.replaceAll(NUMBERED, '*')], gaps: [0, 1, 1] }
}

function typeOf(event: string, lines: readonly string[]): string | undefined {
  const python = lines.findIndex((line) => line.startsWith(PYTHON_BEGINNING))
  const searched = python < 0 ? lines : lines.slice(python).toReversed()
  for (const line of searched) {
    const isHead = frameName(line) === undefined || RUBY_HEAD.test(line)
    const type = isHead ? TYPE.exec(line.slice(0, MAX_TYPE_WITHIN))?.[1] : undefined
    if (type !== undefined) return type
  }
  return PANIC.test(event) ? 'panic' : undefined
}
