import { AppError } from '../../errors/app-error.js'
import { JsonText, printWithJsonText } from '../../lib/json/text/json-text.js'

/** One rule of `data.system.log.mask`. */
export interface MaskRule {
  /** As in the rule, for `erased` and `masked`. */
  readonly path: string
  readonly op: 'remove' | 'upsert'
  /** The segments of the path as written. */
  readonly segments: readonly string[]
  /** The new value of an upsert; null if the rule has none. */
  readonly value: unknown
}

/** A masked event. */
export interface MaskedEvent {
  readonly event: string
  /** The removed and replaced values as JSON. */
  readonly hidden: readonly string[]
}

/** The members that rules may change, as in OPA. */
const MASKED_MEMBERS: readonly string[] = ['input', 'result', 'nd_builtin_cache']

/**
 * Parses the JSON of `data.system.log.mask`: an array of paths and of objects with `op`, `path` and
 * `value`. Raises `invalid` for anything else, so that a rule with a mistake reveals nothing.
 */
export function parseMaskRules(json: string): readonly MaskRule[] {
  const rules = parseExactly(json)
  if (!Array.isArray(rules)) throw invalid('the value is neither an array nor a set')
  return rules.map(parseRule)
}

function parseRule(rule: unknown): MaskRule {
  if (typeof rule === 'string') return { op: 'remove', path: rule, segments: segmentsOf(rule), value: null }
  if (!isObject(rule)) throw invalid('a rule is neither a path nor an object')
  const { op, path, value = null } = rule
  if (op !== 'remove' && op !== 'upsert') throw invalid('the op of a rule is neither remove nor upsert')
  if (typeof path !== 'string') throw invalid('the path of a rule is not a string')
  return { op, path, segments: segmentsOf(path), value }
}

function segmentsOf(path: string): readonly string[] {
  const [start, ...segments] = path.split('/')
  const [member] = segments
  if (start === '' && member !== undefined && MASKED_MEMBERS.includes(member)) return segments
  throw invalid(`the path ${JSON.stringify(path)} does not begin with /${MASKED_MEMBERS.join(', /')}`)
}

function invalid(problem: string): AppError {
  return new AppError('invalid', `system.log.mask: ${problem}`)
}

/**
 * Applies rules in order to an event (JSON). `remove` deletes a member or an element, `upsert`
 * replaces it or adds a member with the objects above it. Rules for values that do not exist have no
 * effect. The applied ones are added to `erased` and `masked`. Numbers keep all digits.
 */
export function maskEvent(json: string, rules: readonly MaskRule[]): MaskedEvent {
  const event = parseExactly(json)
  if (!isObject(event)) throw invalid('the event is not an object')
  const hidden: string[] = []
  const applied = { remove: pathsIn(event['erased']), upsert: pathsIn(event['masked']) }
  for (const rule of rules) {
    const before = apply(event, rule)
    if (before === NOT_APPLIED) continue
    applied[rule.op].add(rule.path)
    if (before !== undefined) hidden.push(printWithJsonText(before))
  }
  if (applied.remove.size > 0) event['erased'] = [...applied.remove]
  if (applied.upsert.size > 0) event['masked'] = [...applied.upsert]
  return { event: printWithJsonText(event), hidden }
}

function pathsIn(list: unknown): Set<string> {
  return new Set(Array.isArray(list) ? list.map(String) : [])
}

const NOT_APPLIED = Symbol('not applied')

/** Returns the value before the rule, undefined if there was none, or `NOT_APPLIED`. */
function apply(event: JsonObject, { op, segments, value }: MaskRule): unknown {
  const [member = '', ...rest] = segments
  if (!Object.hasOwn(event, member)) return NOT_APPLIED
  let holder: unknown = event
  let last = member
  for (const segment of rest) {
    const next = stepInto(holder, last, op === 'upsert')
    if (next === NOT_APPLIED) return NOT_APPLIED
    holder = next
    last = keyIn(holder, segment)
  }
  return change(holder, last, op, value)
}

/** Returns a member. With `adds`, a missing one becomes an empty object. */
function stepInto(holder: unknown, name: string, adds: boolean): unknown {
  if (Array.isArray(holder)) {
    const elements: readonly unknown[] = holder
    return isIndex(elements, name) ? elements[Number(name)] : NOT_APPLIED
  }
  if (!isObject(holder)) return NOT_APPLIED
  if (Object.hasOwn(holder, name)) return holder[name]
  if (!adds) return NOT_APPLIED
  const added: JsonObject = {}
  setMember(holder, name, added)
  return added
}

function change(holder: unknown, name: string, op: MaskRule['op'], value: unknown): unknown {
  if (Array.isArray(holder)) {
    const elements: unknown[] = holder
    if (!isIndex(elements, name)) return NOT_APPLIED
    const [before] = op === 'remove' ? elements.splice(Number(name), 1) : [elements[Number(name)]]
    if (op === 'upsert') elements[Number(name)] = value
    return before
  }
  if (!isObject(holder)) return NOT_APPLIED
  const has = Object.hasOwn(holder, name)
  if (op === 'remove' && !has) return NOT_APPLIED
  const before = has ? holder[name] : undefined
  if (op === 'remove') Reflect.deleteProperty(holder, name)
  else setMember(holder, name, value)
  return before
}

/** Also sets `__proto__`, which is a usual member in JSON. */
function setMember(holder: JsonObject, name: string, value: unknown): void {
  Object.defineProperty(holder, name, { value, enumerable: true, configurable: true, writable: true })
}

/** A segment with `~1` and `~0` (RFC 6901), or as written if only such a member exists, as in OPA. */
function keyIn(holder: unknown, segment: string): string {
  if (!segment.includes('~')) return segment
  const key = segment.replaceAll('~1', '/').replaceAll('~0', '~')
  const isWritten = isObject(holder) && !Object.hasOwn(holder, key) && Object.hasOwn(holder, segment)
  return isWritten ? segment : key
}

function isIndex(list: readonly unknown[], name: string): boolean {
  return /^(?:0|[1-9]\d*)$/.test(name) && Number(name) < list.length
}

type JsonObject = Record<string, unknown>

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof JsonText)
}

/** Parses JSON in which numbers outside of a double keep their text. */
function parseExactly(json: string): unknown {
  return JSON.parse(json, (_name: string, value: unknown, ...more: readonly { source?: string }[]) => {
    const source = more[0]?.source
    return typeof value === 'number' && source !== undefined && source !== String(value)
      ? new JsonText(source)
      : value
  })
}
