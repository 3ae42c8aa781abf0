import type { WorkMeter } from '../../metering/work-meter.js'
import { decodeUtf8 } from '../encoding/go-utf8.js'
import type { Builtin } from '../shared/builtin.js'
import { ensureResultLength } from '../shared/call-costs.js'
import { objectOperand, stringOperand } from '../shared/operands.js'

/** Steps of skipping a byte, and of looking for one text there. */
const PASS_STEPS = 3
const LOOK_STEPS = 3
const COPY_STEPS = 0.1
const COMPARE_STEPS = 0.2
const SHORT_PIECE = 16
const BYTE_VALUES = 256

interface Replacement {
  readonly from: Buffer
  readonly to: Buffer
}

/** Go looks at bytes, at each place for one text after another; an empty one is found at each place where none was before. */
export const replaceMany: Builtin = (args, { meter }) => {
  const pairs = objectOperand(args, 0).entries.flatMap(([from, to]) =>
    typeof from === 'string' && typeof to === 'string'
      ? [{ from: Buffer.from(from), to: Buffer.from(to) }]
      : [],
  )
  const text = Buffer.from(stringOperand(args, 1))
  meter.spend(text.length * (PASS_STEPS + pairs.length * LOOK_STEPS))
  const byFirst = groupByFirst(pairs)
  const made = new GrowingText(text.length, meter)
  let copied = 0
  let wasEmpty = false
  for (let at = 0; at <= text.length;) {
    const found = byFirst[text[at] ?? 0]?.find(({ from }) =>
      from.length === 0 ? !wasEmpty : isAt(text, at, from, meter),
    )
    wasEmpty = found?.from.length === 0
    if (found === undefined) {
      at++
      continue
    }
    made.add(text, copied, at)
    made.add(found.to, 0, found.to.length)
    at += found.from.length
    copied = at
  }
  made.add(text, copied, text.length)
  return decodeUtf8(made.bytes())
}

/** For every byte those that may be found where it stands, in their order. */
function groupByFirst(pairs: readonly Replacement[]): readonly (readonly Replacement[])[] {
  const groups = Array.from({ length: BYTE_VALUES }, (): Replacement[] => [])
  for (const pair of pairs) {
    const [first] = pair.from
    if (first === undefined) for (const group of groups) group.push(pair)
    else groups[first]?.push(pair)
  }
  return groups
}

function isAt(text: Buffer, at: number, part: Buffer, meter: WorkMeter): boolean {
  if (at + part.length > text.length) return false
  let alike = 0
  while (alike < part.length && text[at + alike] === part[alike]) alike++
  // What is nearly there at every place takes the product of both lengths.
  if (alike > SHORT_PIECE) meter.spend(alike * COMPARE_STEPS)
  return alike === part.length
}

/** Bytes put one behind another: texts of many short pieces would be as many objects. */
class GrowingText {
  readonly #meter: WorkMeter
  #bytes: Buffer
  #length = 0

  constructor(expectedLength: number, meter: WorkMeter) {
    this.#meter = meter
    meter.reserve(expectedLength)
    this.#bytes = Buffer.allocUnsafe(expectedLength)
  }

  /** Raises as the meter where the text becomes too long. */
  add(from: Buffer, start: number, end: number): void {
    const length = this.#length + end - start
    if (length > this.#bytes.length) this.#growTo(length * 2)
    // Copying through the runtime costs more than a few bytes do.
    if (end - start > SHORT_PIECE) from.copy(this.#bytes, this.#length, start, end)
    else for (let i = start; i < end; i++) this.#bytes[this.#length + i - start] = from[i] ?? 0
    this.#length = length
  }

  bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length)
  }

  #growTo(capacity: number): void {
    ensureResultLength(capacity / 2, this.#meter)
    this.#meter.reserve(capacity)
    this.#meter.spend(capacity * COPY_STEPS)
    const bytes = Buffer.allocUnsafe(capacity)
    this.#bytes.copy(bytes, 0, 0, this.#length)
    this.#bytes = bytes
  }
}
