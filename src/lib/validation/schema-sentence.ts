import { z } from 'zod'

import { cutText } from '../text/shown-text.js'
import { nearestName, suggestion } from '../text/nearest-name.js'

type RawIssue = z.core.$ZodRawIssue

const MAX_SHOWN = 80
/** Maximum number of unknown names compared with the known ones, per object. */
const MAX_NAMED = 20
const TYPE_NAMES: Readonly<Record<string, string>> = {
  array: 'an array',
  bigint: 'a whole number',
  boolean: 'true or false',
  int: 'a whole number',
  null: 'null',
  number: 'a number',
  object: 'an object',
  record: 'an object',
  string: 'a text',
}
/** Units of zod's sizes, by the origin of the issue. */
const UNITS: Readonly<Record<string, readonly [one: string, more: string]>> = {
  string: [' character', ' characters'],
  array: [' entry', ' entries'],
  map: [' entry', ' entries'],
}
const FORMATS: Readonly<Record<string, string>> = {
  date: 'a date such as 2026-01-31',
  datetime: 'an ISO 8601 time such as 2026-01-31T12:00:00Z',
  email: 'an e-mail address',
  url: 'a URL',
  uuid: 'a UUID',
}

/**
 * Describes an issue as a predicate whose subject is the value's name: `must be a text, not a
 * number`.
 */
export function schemaSentence(issue: RawIssue): string | undefined {
  if (isMissing(issue)) return 'is required'
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${typeName(issue.expected)}${instead(issue.input)}`
    case 'invalid_value':
      return `must be ${listed(issue.values.map((value) => String(value)))}${instead(issue.input)}${meant(issue.input, issue.values)}`
    case 'invalid_union':
      return `must be ${alternatives(issue.errors)}${instead(issue.input)}`
    case 'unrecognized_keys':
      return unknownKeys(issue.keys, issue.inst)
    case 'too_small':
      return `must ${bound(issue.origin)} at least ${String(issue.minimum)}${unit(issue.origin, issue.minimum)}`
    case 'too_big':
      return `must ${bound(issue.origin)} at most ${String(issue.maximum)}${unit(issue.origin, issue.maximum)}`
    case 'invalid_format':
      return `must be ${FORMATS[issue.format] ?? `of the form ${issue.pattern ?? issue.format}`}`
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`
    default:
      // Messages that a schema sets itself are kept.
      return undefined
  }
}

export function isMissing(issue: { readonly code?: string | undefined; readonly input?: unknown }): boolean {
  return issue.input === undefined && /^invalid_(?:type|value|union)$/.test(issue.code ?? '')
}

function alternatives(errors: readonly (readonly z.core.$ZodIssue[])[]): string {
  const firsts = errors.flatMap(([first]) => (first === undefined ? [] : [first]))
  const names = firsts.map((issue) =>
    issue.code === 'invalid_type' && issue.path.length === 0 ? typeName(issue.expected) : 'a valid object',
  )
  return names.length === 0 ? 'one of the known kinds' : listed([...new Set(names)])
}

type AnySchema = z.core.$ZodType | undefined | { readonly _zod: unknown }

function unknownKeys(names: readonly string[], schema: AnySchema): string {
  const sentences = names.slice(0, MAX_NAMED).map((name) => unknownKey(name, schema))
  const rest = names.length - MAX_NAMED
  return [...sentences, ...(rest > 0 ? [`${rest} more names are not known`] : [])].join('; ')
}

function unknownKey(name: string, schema: AnySchema): string {
  const names = schema instanceof z.ZodObject ? Object.keys(schema.shape) : []
  const nearest = nearestName(name, names)
  const shown = cutText(name, MAX_SHOWN)
  return nearest === undefined
    ? `${shown} is not known: known are ${names.join(', ')}`
    : `${shown} is not known, did you mean ${nearest}?`
}

function unit(origin: string, amount: number | bigint): string {
  const [one, more] = UNITS[origin] ?? ['', '']
  return Number(amount) === 1 ? one : more
}

function bound(origin: string): string {
  return origin in UNITS ? 'have' : 'be'
}

function typeName(expected: string): string {
  return TYPE_NAMES[expected] ?? expected
}

/** NaN says nothing about the text that was not a number. */
function instead(input: unknown): string {
  return Number.isNaN(input) ? '' : `, not ${describe(input)}`
}

function meant(input: unknown, values: readonly unknown[]): string {
  if (typeof input !== 'string' || input.length > MAX_SHOWN) return ''
  const names = values.filter((value) => typeof value === 'string')
  return suggestion(nearestName(input, names))
}

function describe(input: unknown): string {
  if (typeof input === 'string') return input.length > MAX_SHOWN ? 'a longer text' : JSON.stringify(input)
  if (input === null || typeof input === 'number' || typeof input === 'boolean') return String(input)
  return Array.isArray(input) ? 'an array' : 'an object'
}

function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} or ${names.at(-1) ?? ''}`
}
