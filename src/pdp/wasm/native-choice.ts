import { RegoNumber, RegoSet } from '../rego/value.js'
import type { RegoValue } from '../rego/value.js'

/** Reads an operand by its index from 0. */
export interface OperandReader {
  (index: number): RegoValue
  /** Whether it is an array of 64-bit integers and nothing else. */
  readonly hasIntegersOnly: (index: number) => boolean
}

/** Whether the host is to answer. */
type Choice = (operand: OperandReader) => boolean

/** What the module divides without a rest, it divides as OPA does. */
const PLAIN_INTEGER = /^(?:-?[1-9]\d{0,14}|0)$/

const isBroken: Choice = (operand) => {
  const [a, b] = [operand(0), operand(1)]
  if (!(a instanceof RegoNumber) || !(b instanceof RegoNumber)) return false
  if (!PLAIN_INTEGER.test(a.text) || !PLAIN_INTEGER.test(b.text)) return true
  return b.text === '0' || Number(a.text) % Number(b.text) !== 0
}

const hasDecimals: Choice = (operand) => !operand.hasIntegersOnly(0)

/** Go takes groups within groups up to a depth of 1,000, counting what repeats them. */
const SHALLOW_GROUPS = 300

/** C++'s RE2 takes some patterns that Go's does not. */
const isOddPattern: Choice = (operand) => {
  const pattern = operand(0)
  return (
    typeof pattern === 'string' &&
    (pattern.includes('\\C') || (pattern.length > SHALLOW_GROUPS && countGroups(pattern) > SHALLOW_GROUPS))
  )
}

/** Any negative number of matches is all of them; the module knows -1 only. */
const isOddSearch: Choice = (operand) => {
  const limit = operand(2)
  return (
    (limit instanceof RegoNumber && limit.text.startsWith('-') && limit.text !== '-1') ||
    isOddPattern(operand)
  )
}

/** On a path without segments the module reads memory that it has not written. */
const hasEmptyPath: Choice = (operand) => {
  const paths = operand(1)
  const list = paths instanceof RegoSet ? paths.members : Array.isArray(paths) ? paths : []
  return list.some((path: RegoValue) => path === '' || (Array.isArray(path) && path.length === 0))
}

/** What the native built-ins whose turn is `chosen` are not given. */
const CHOICES: Readonly<Record<string, Choice>> = {
  div: isBroken,
  'json.filter': hasEmptyPath,
  'json.remove': hasEmptyPath,
  product: hasDecimals,
  'regex.find_all_string_submatch_n': isOddSearch,
  'regex.match': isOddPattern,
  sum: hasDecimals,
}

/** Whether the host answers a call that the module can answer itself, mostly as OPA does. */
export function isForHost(builtin: string, operand: OperandReader): boolean {
  return CHOICES[builtin]?.(operand) ?? true
}

function countGroups(pattern: string): number {
  return pattern.split('(').length - 1
}
