import { createHash } from 'node:crypto'

import { printJson } from '../values/print-text.js'
import { RegoSet } from '../values/value.js'
import type { RegoValue } from '../values/value.js'

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
/** Different lists of arguments kept for a function. */
const MAX_CALLS = 2000
/** Values kept in total, and for one operand with a `_`. */
const [MAX_KEPT, MAX_EACH] = [50_000, 5]
/** Longest kept text of a value, in characters. */
const MAX_TEXT = 300

interface StepRecord {
  hits: number
  samples: Map<string, { values: OperandValues; hits: number }>
}
interface BodyRecord {
  args: readonly string[] | undefined
  steps: Map<string, StepRecord>
}

/** Collects the markers of one evaluation. */
export class TraceRecorder {
  readonly #bodies = new Map<string, Map<string, BodyRecord>>()
  readonly #current = new Map<string, BodyRecord>()
  #kept = 0
  #isCut = false

  /** Records a marker: the operand of `internal.print`. Returns false for other calls. */
  record(operands: readonly RegoValue[]): boolean {
    const [first, ...rest] = operands
    const name = first instanceof RegoSet ? first.members[0] : undefined
    if (typeof name !== 'string' || !name.startsWith(MARKER)) return false
    const [id = '', step = ''] = name.slice(MARKER.length).split(':')
    if (step === ENTERED) this.#enter(id, rest[0])
    else this.#reach(id, step, rest)
    return true
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

  #enter(id: string, args: RegoValue | undefined): void {
    const calls = this.#bodies.get(id) ?? new Map<string, BodyRecord>()
    this.#bodies.set(id, calls)
    const [list] = args instanceof RegoSet ? args.members : []
    const key = callKey(list)
    let body = calls.get(key)
    if (body === undefined) {
      const texts = Array.isArray(list) ? list.map((value: RegoValue) => cut(printJson(value))) : undefined
      body = { args: texts, steps: new Map() }
      if (calls.size < MAX_CALLS) calls.set(key, body)
      else this.#isCut = true
    }
    this.#current.set(id, body)
  }

  #reach(id: string, step: string, operands: readonly RegoValue[]): void {
    if (!this.#current.has(id)) this.#enter(id, undefined)
    const steps = this.#current.get(id)?.steps
    if (steps === undefined) return
    const record: StepRecord = steps.get(step) ?? { hits: 0, samples: new Map() }
    steps.set(step, record)
    record.hits += 1
    const isFull = record.samples.size >= (step === HELD ? MAX_RESULTS : MAX_SAMPLES)
    // Reading values is what a marker costs.
    if (isFull && record.hits > MAX_RESULTS * MAX_SAMPLES) return
    const values = operands.map(textsOf)
    const key = JSON.stringify(values)
    const known = record.samples.get(key)
    if (known !== undefined) known.hits += 1
    else if (!isFull && this.#kept < MAX_KEPT) {
      this.#kept += 1
      record.samples.set(key, { values, hits: 1 })
    } else this.#isCut ||= this.#kept >= MAX_KEPT
  }
}

/** Returns the key of a list of arguments. Long ones are digests. */
export function callKey(args: RegoValue | undefined): string {
  return args === undefined ? '' : short(printJson(args))
}

function finished(steps: ReadonlyMap<string, StepRecord>): BodyTrace['steps'] {
  return new Map(
    [...steps].map(([step, { hits, samples }]) => [step, { hits, samples: [...samples.values()] }]),
  )
}

function textsOf(operand: RegoValue): readonly string[] {
  const members = operand instanceof RegoSet ? operand.members : []
  const shown = members.slice(0, MAX_EACH).map((value) => short(printJson(value)))
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
