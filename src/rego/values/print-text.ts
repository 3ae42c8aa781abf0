import { EMPTY_SET_TEXT, RegoNumber, RegoObject, RegoSet } from './value.js'
import type { RegoArray, RegoValue } from './value.js'
import type { WorkMeter } from '../metering/work-meter.js'

/** The cost of printing in steps, for a value and for each character. */
const VALUE_STEPS = 6
const CHARACTER_STEPS = 0.3

/**
 * Prints a value as compact Rego text for `opa_value_parse` of a module: sets are `{1,2}` and
 * `set()`.
 */
export function printRegoText(value: RegoValue): string {
  return printWith(value, undefined)
}

/**
 * Returns the Rego text of a value and charges the meter while writing. A value in several places
 * of a small document may expand to a text of any length.
 */
export function printRegoTextWithin(meter: WorkMeter, value: RegoValue): string {
  return printWith(value, meter)
}

function printWith(value: RegoValue, meter: WorkMeter | undefined): string {
  if (value !== null && typeof value === 'object' && !(value instanceof RegoNumber)) {
    meter?.spend(VALUE_STEPS)
    return printContainer(value, meter)
  }
  const text = printScalar(value)
  meter?.spend(VALUE_STEPS + text.length * CHARACTER_STEPS)
  meter?.reserve(text.length + 1)
  return text
}

function printScalar(value: null | boolean | string | RegoNumber): string {
  if (typeof value === 'string') return printString(value)
  return value instanceof RegoNumber ? value.text : String(value)
}

/** A lone surrogate is not a character. Go writes U+FFFD, and the module rejects its escape. */
function printString(value: string): string {
  const text = JSON.stringify(value)
  return text.includes('\\ud') ? JSON.stringify(value.replaceAll(/\p{Surrogate}/gu, '\ufffd')) : text
}

function printContainer(value: RegoArray | RegoSet | RegoObject, meter: WorkMeter | undefined): string {
  const print = (member: RegoValue): string => printWith(member, meter)
  if (value instanceof RegoSet) {
    return value.members.length === 0 ? EMPTY_SET_TEXT : `{${value.members.map(print).join(',')}}`
  }
  if (value instanceof RegoObject) {
    return `{${value.entries.map(([k, v]) => `${print(k)}:${print(v)}`).join(',')}}`
  }
  return `[${value.map(print).join(',')}]`
}

/**
 * Prints a value as compact JSON: sets as arrays in Rego order, sorted keys, original number texts.
 * A key that is not a string becomes its JSON text, as in OPA's answers.
 */
export function printJson(value: RegoValue): string {
  if (value === null || typeof value === 'boolean') return String(value)
  if (typeof value === 'string') return JSON.stringify(value)
  if (value instanceof RegoNumber) return value.text
  if (value instanceof RegoSet) return `[${value.members.map(printJson).join(',')}]`
  if (value instanceof RegoObject) {
    return `{${value.entries.map(([k, v]) => `${printJsonKey(k)}:${printJson(v)}`).join(',')}}`
  }
  return `[${value.map(printJson).join(',')}]`
}

function printJsonKey(key: RegoValue): string {
  return typeof key === 'string' ? JSON.stringify(key) : JSON.stringify(printJson(key))
}
