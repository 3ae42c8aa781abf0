import { createHash } from 'node:crypto'

import type { Tracer } from '../builtins/shared/builtin.js'
import { printJson } from '../values/print-text.js'
import { RegoSet } from '../values/value.js'
import type { RegoArray, RegoValue } from '../values/value.js'

/** The beginning of all markers, followed by the number of a body and a step. */
export const MARKER = 'tidegate:'
/** The steps other than the numbers of conditions. */
export const [ENTERED, HELD] = ['in', 'end'] as const

/** Values of the operands of a marker: JSON texts, none if undefined, several for a `_`. */
export type OperandValues = readonly (readonly string[])[]

/** Different values at a step, and how often they occurred. */
export interface Sample {
  readonly values: OperandValues
  readonly hits: number
}

/** A reached step of a body. */
export interface ReachedStep {
  readonly hits: number
  /** The first different values. */
  readonly samples: readonly Sample[]
}

/** The reached steps of a body, for one list of arguments. */
export interface BodyTrace {
  /** The arguments of a function, or the element of `every`; undefined for other bodies. */
  readonly args: readonly string[] | undefined
  readonly steps: ReadonlyMap<string, ReachedStep>
}

/** The trace of an evaluation as plain data: bodies by number and key of their arguments. */
export interface Trace {
  readonly bodies: ReadonlyMap<string, ReadonlyMap<string, BodyTrace>>
  /** True if something was left out because the trace is too long. */
  readonly isCut: boolean
}

/** Different values kept for a condition and for a body that holds. */
const [MAX_SAMPLES, MAX_RESULTS] = [3, 50]
/** Different lists of arguments kept for a function, and their characters. */
const [MAX_CALLS, MAX_CALL_TEXT] = [500, 200_000]
/** The key of the other calls. */
const OTHERS = '…'
/** Values read at a condition and of a body that holds. All others are counted. */
const [MAX_READ, MAX_READ_RESULTS] = [8, 200]
/** Characters of values read at a condition, or of a body that holds. */
const MAX_READ_TEXT = 50_000
/** Values kept in total, and for one operand with a `_`. */
const [MAX_KEPT, MAX_EACH] = [50_000, 5]
/** Longest kept text of a value, in characters. */
const MAX_TEXT = 300

interface StepRecord {
  hits: number
  /** Characters of the values that were read. */
  readText: number
  samples: Map<string, { values: OperandValues; hits: number }>
}
interface BodyRecord {
  args: readonly string[] | undefined
  steps: Map<string, StepRecord>
}

/** Matches the format of a marker. */
const NAME = new RegExp(`^${MARKER}([^:]+):(.+)$`)

/** Collects the markers of one evaluation. */
export class TraceRecorder implements Tracer {
  readonly #bodies = new Map<string, Map<string, BodyRecord>>()
  readonly #current = new Map<string, BodyRecord>()
  /** Characters of the arguments of each function. */
  readonly #callText = new Map<string, number>()
  #kept = 0
  #isCut = false

  record(format: string, values: RegoValue): void {
    const [, id = '', step = ''] = NAME.exec(format) ?? []
    const operands: RegoArray = Array.isArray(values) ? (values as RegoArray) : []
    if (step === ENTERED) this.#enter(id, operands[0])
    else this.#reach(id, step, operands)
  }

  count(format: string): ReturnType<Tracer['count']> {
    const [, id = '', step = ''] = NAME.exec(format) ?? []
    if (id === '') return 'other'
    if (step === ENTERED) {
      const calls = this.#bodies.get(id)?.size ?? 0
      if (calls < MAX_CALLS && (this.#callText.get(id) ?? 0) < MAX_CALL_TEXT) return 'record'
      this.#isCut = true
      this.#current.set(id, this.#bodyOf(id, OTHERS, undefined))
      return 'counted'
    }
    const record = this.#current.get(id)?.steps.get(step)
    if (record === undefined || !isKnown(step, record)) return 'record'
    record.hits += 1
    return 'counted'
  }

  /** Returns the trace so far. */
  finish(): Trace {
    const bodies = new Map(
      [...this.#bodies].map(([id, calls]) => [
        id,
        new Map([...calls].map(([key, { args, steps }]) => [key, { args, steps: finished(steps) }])),
      ]),
    )
    return { bodies, isCut: this.#isCut }
  }

  #enter(id: string, operand: RegoValue | undefined): void {
    const [list] = membersOf(operand)
    const args = Array.isArray(list) ? list.map((value: RegoValue) => printJson(value)) : undefined
    // As `printJson` prints the list.
    const text = args === undefined ? '' : `[${args.join(',')}]`
    this.#callText.set(id, (this.#callText.get(id) ?? 0) + text.length)
    this.#current.set(id, this.#bodyOf(id, short(text), args?.map(cut)))
  }

  #bodyOf(id: string, key: string, args: readonly string[] | undefined): BodyRecord {
    const calls = this.#bodies.get(id) ?? new Map<string, BodyRecord>()
    this.#bodies.set(id, calls)
    const known = calls.get(key)
    if (known !== undefined) return known
    if (calls.size > MAX_CALLS && key !== OTHERS) return this.#bodyOf(id, OTHERS, undefined)
    const body = { args, steps: new Map<string, StepRecord>() }
    calls.set(key, body)
    return body
  }

  #reach(id: string, step: string, operands: readonly RegoValue[]): void {
    if (!this.#current.has(id)) this.#enter(id, undefined)
    const steps = this.#current.get(id)?.steps
    if (steps === undefined) return
    const record: StepRecord = steps.get(step) ?? { hits: 0, readText: 0, samples: new Map() }
    steps.set(step, record)
    record.hits += 1
    const isFull = record.samples.size >= (step === HELD ? MAX_RESULTS : MAX_SAMPLES)
    const values = operands.map((operand) => {
      const texts = textsOf(operand)
      record.readText += texts.reduce((sum, { length }) => sum + length, 0)
      return texts.map(short)
    })
    const key = JSON.stringify(values)
    const known = record.samples.get(key)
    if (known !== undefined) known.hits += 1
    else if (!isFull && this.#kept < MAX_KEPT) {
      this.#kept += 1
      record.samples.set(key, { values, hits: 1 })
    } else this.#isCut ||= this.#kept >= MAX_KEPT
  }
}

/** True if enough values were read at a step. */
function isKnown(step: string, { hits, readText, samples }: StepRecord): boolean {
  if (readText >= MAX_READ_TEXT) return true
  if (step === HELD) return samples.size >= MAX_RESULTS || hits >= MAX_READ_RESULTS
  return samples.size >= MAX_SAMPLES || hits >= MAX_READ
}

function finished(steps: ReadonlyMap<string, StepRecord>): BodyTrace['steps'] {
  return new Map(
    [...steps].map(([step, { hits, samples }]) => [step, { hits, samples: [...samples.values()] }]),
  )
}

/** The values of an operand: none if it is undefined, several with a `_`. */
function membersOf(operand: RegoValue | undefined): RegoArray {
  return Array.isArray(operand) ? (operand as RegoArray) : []
}

function textsOf(operand: RegoValue): readonly string[] {
  const found = membersOf(operand)
  // Sorting compares whole values.
  const members = found.length > 1 ? new RegoSet(found).members : found
  const shown = members.slice(0, MAX_EACH).map(printJson)
  return members.length > shown.length ? [...shown, `… ${members.length} values`] : shown
}

/** Long texts end with a digest, so that equal ones are found. */
function short(text: string): string {
  if (text.length <= MAX_TEXT) return text
  return `${text.slice(0, MAX_TEXT)}…${createHash('sha256').update(text).digest('base64url')}`
}

/** Returns a text for people, without the digest. */
export function cut(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT)}…`
}
