import { toAppError, AppError } from '../../errors/app-error.js'
import { replaceExtents } from '../../lib/json/edit/replace-extents.js'
import type { Replacement } from '../../lib/json/edit/replace-extents.js'
import { OPEN_ARRAY, OPEN_OBJECT } from '../../lib/json/scan/json-bytes.js'
import type { Extent } from '../../lib/json/scan/json-bytes.js'
import { isWellFormed } from '../../lib/json/scan/locate-value.js'
import { readKey, readMembers, scanElements, scanMembers } from '../../lib/json/scan/scan-members.js'
import { scanSpace } from '../../lib/json/scan/scan-value.js'
import { JsonText, printWithJsonText } from '../../lib/json/text/json-text.js'
import { parseJson } from '../../lib/json/text/parse-json.js'
import { isRecord } from '../../lib/validation/record.js'
import type { StoredDecision } from '../../store/ports/decision-store.js'
import { makeHideSecrets } from '../hide-secrets.js'
import type { HideSecrets } from '../hide-secrets.js'
import { decisionEvent, withoutDetail } from './decision-event.js'
import type { EventLabels } from './decision-event.js'

/** The rules of policies about events. Both raise the errors of an evaluation. */
export interface LogRules {
  /** Returns whether an event (JSON) is dropped. */
  readonly isDropped: (event: string) => boolean
  /** Returns the masks of an event as JSON; undefined if the rule is undefined. */
  readonly masksOf: (event: string) => string | undefined
}

/** A decision as it leaves the service. */
export interface ShapedDecision {
  /** The event in OPA's format. */
  readonly event: string
  /** The decision for other members of an upload, without what the event hides. */
  readonly decision: StoredDecision
}

/** Counts what the rules did. */
export interface ShapingCounts {
  dropped: number
  maskFailed: number
}

/** Returns a decision as it leaves the service; undefined if it does not. */
export type ShapeDecision = (decision: StoredDecision) => ShapedDecision | undefined

/**
 * Creates the function that turns decisions into events. `rules` returns the current rules,
 * undefined if policies have none. If a rule fails or does not end, the event has neither input,
 * result nor anything that may quote them.
 */
export function makeShapeDecision(
  labels: EventLabels,
  rules: () => LogRules | undefined,
  counts: ShapingCounts,
): ShapeDecision {
  return (decision) => {
    const current = rules()
    if (current === undefined) return { event: decisionEvent(decision, labels), decision }
    try {
      const shaped = shape(decision, labels, current)
      if (shaped === undefined) counts.dropped += 1
      return shaped
    } catch (raw) {
      toAppError(raw)
      counts.maskFailed += 1
      const bare = bareDecision(decision)
      return { event: decisionEvent(bare, labels), decision: bare }
    }
  }
}

function shape(given: StoredDecision, labels: EventLabels, rules: LogRules): ShapedDecision | undefined {
  const decision = withoutCutValues(given)
  const event = decisionEvent(decision, labels)
  if (rules.isDropped(event)) return undefined
  const masks = rules.masksOf(event)
  const parsed = masks === undefined ? [] : parseMaskRules(masks)
  if (parsed.length === 0) return { event, decision }
  const masked = maskEvent(event, parsed)
  if (masked.hidden.length === 0) return { event: masked.event, decision }
  const hiding = hideIn(decision, makeHideSecrets(masked.hidden))
  return { event: maskEvent(decisionEvent(hiding, labels), parsed).event, decision: hiding }
}

/** Rules cannot find anything in the start of a value. */
function withoutCutValues(decision: StoredDecision): StoredDecision {
  const { inputTruncated, input, result } = decision
  const resultTruncated = decision.resultTruncated || !isWhole(result)
  return {
    ...decision,
    input: inputTruncated || !isWhole(input) ? null : input,
    result: resultTruncated ? null : result,
    resultTruncated,
  }
}

function isWhole(json: Uint8Array | null): boolean {
  return json === null || isWellFormed(json)
}

/** Hides masked values in the members that rules cannot change. The reasons repeat the result. */
function hideIn(decision: StoredDecision, hide: HideSecrets): StoredDecision {
  const hidden = (text: string | null): string | null => (text === null ? null : hide(text, false))
  return {
    ...decision,
    error: decision.error === null ? null : (hide(decision.error, false) ?? '[masked]'),
    application: hidden(decision.application),
    executionId: hidden(decision.executionId),
    packages: null,
  }
}

function bareDecision(decision: StoredDecision): StoredDecision {
  return {
    ...withoutDetail(decision),
    error: decision.error === null ? null : '[masked]',
    ...{ application: null, executionId: null, packages: null },
  }
}

/** One rule of `data.system.log.mask`. */
interface MaskRule {
  /** As in the rule, for `erased` and `masked`. */
  readonly path: string
  readonly op: 'remove' | 'upsert'
  /** The segments of the path as written. */
  readonly segments: readonly string[]
  /** The new value of an upsert; null if the rule has none. */
  readonly value: unknown
}

/** A masked event. */
interface MaskedEvent {
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
  if (!isRecord(rule)) throw invalid('a rule is neither a path nor an object')
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
 * effect. The applied ones are added to `erased` and `masked`. All values of a repeated member
 * change; other bytes stay.
 */
export function maskEvent(json: string, rules: readonly MaskRule[]): MaskedEvent {
  let event: Buffer = Buffer.from(json)
  const hidden: string[] = []
  const applied = { remove: pathsIn(event, 'erased'), upsert: pathsIn(event, 'masked') }
  for (const { op, path, segments, value } of rules) {
    const [member = ''] = segments
    if (readMembers(event)?.has(member) !== true) continue
    const edits = editsIn(event, 0, segments, op === 'remove' ? undefined : printWithJsonText(value))
    if (edits.length === 0) continue
    applied[op].add(path)
    for (const { before } of edits) if (before !== undefined) hidden.push(textOf(event, before))
    event = replaceExtents(event, edits)
  }
  for (const [name, paths] of [
    ['erased', applied.remove],
    ['masked', applied.upsert],
  ] as const)
    if (paths.size > 0) event = replaceExtents(event, editsIn(event, 0, [name], JSON.stringify([...paths])))
  return { event: event.toString(), hidden }
}

function pathsIn(event: Uint8Array, name: string): Set<string> {
  const extent = readMembers(event)?.get(name)
  const list = extent === undefined ? undefined : parseJson(textOf(event, extent))
  return new Set(Array.isArray(list) ? list.map(String) : [])
}

function textOf(bytes: Uint8Array, { start, end }: Extent): string {
  return Buffer.from(bytes.subarray(start, end)).toString()
}

interface Edit extends Replacement {
  /** The value that is removed or replaced, if there is one. */
  readonly before?: Extent
}

/** A member or an element, and its neighbours. */
interface Item extends Extent {
  /** Offset of the key, or of the element. */
  readonly from: number
  /** End of the item before; undefined for the first. */
  readonly previousEnd: number | undefined
  /** True if an item before it stays. */
  readonly isAfterKept: boolean
  /** Start of the next item; undefined for the last. */
  next?: number
}

/**
 * Returns the edits, in text order, that change the value at a path below the value at `start`:
 * to `value` (JSON), or that remove it if `value` is undefined.
 */
function editsIn(
  bytes: Uint8Array,
  start: number,
  [segment = '', ...rest]: readonly string[],
  value: string | undefined,
): Edit[] {
  const isObject = bytes[start] === OPEN_OBJECT
  const { items, end } = isObject ? findMembers(bytes, start, segment) : findElements(bytes, start, segment)
  if (rest.length > 0 && items.length > 0)
    return items.flatMap((item) => editsIn(bytes, item.start, rest, value))
  if (value === undefined) return items.map(removal)
  if (items.length > 0)
    return items.map((item) => ({ start: item.start, end: item.end, text: Buffer.from(value), before: item }))
  return isObject ? [addition(end, bytes, start, [keyOf(segment), ...rest.map(keyOf)], value)] : []
}

/** Removes an item with the comma before it, or after it if nothing before it stays. */
function removal(item: Item): Edit {
  const { from, end, previousEnd, isAfterKept, next } = item
  const extent =
    isAfterKept && previousEnd !== undefined ? { start: previousEnd, end } : { start: from, end: next ?? end }
  return { ...extent, text: NOTHING, before: { start: item.start, end } }
}

const NOTHING = new Uint8Array(0)

/** Adds a member after the last one of an object. `end` is the end of that, if there is one. */
function addition(
  end: number | undefined,
  bytes: Uint8Array,
  open: number,
  keys: readonly string[],
  value: string,
): Edit {
  const [name = '', ...below] = keys
  const nested = below.reduceRight((inner, key) => `{${JSON.stringify(key)}:${inner}}`, value)
  const at = end ?? scanSpace(bytes, open + 1)
  const text = Buffer.from(`${end === undefined ? '' : ','}${JSON.stringify(name)}:${nested}`)
  return { start: at, end: at, text }
}

interface Found {
  readonly items: readonly Item[]
  /** End of the last member or element. */
  readonly end: number | undefined
}

const NONE: Found = { items: [], end: undefined }

/**
 * Finds the members of a name: that of a segment with `~1` and `~0` (RFC 6901), or the segment as
 * written if only such members exist, as in OPA.
 */
function findMembers(bytes: Uint8Array, open: number, segment: string): Found {
  const key = keyOf(segment)
  const named = new ItemList()
  const written = new ItemList()
  scanMembers(bytes, open, (from, start, end) => {
    const name = readKey(bytes, from)
    named.visit({ from, start, end }, name === key)
    written.visit({ from, start, end }, name === segment)
  })
  return { items: named.items.length > 0 ? named.items : written.items, end: named.end }
}

function findElements(bytes: Uint8Array, open: number, segment: string): Found {
  if (bytes[open] !== OPEN_ARRAY || !/^(?:0|[1-9]\d*)$/.test(segment)) return NONE
  const found = new ItemList()
  scanElements(bytes, open, (index, start, end) =>
    found.visit({ from: start, start, end }, String(index) === segment),
  )
  return { items: found.items, end: undefined }
}

/** Collects the wanted items with their neighbours, in text order. */
class ItemList {
  readonly items: Item[] = []
  /** End of the last item, wanted or not. */
  end: number | undefined
  #keptCount = 0

  visit({ from, start, end }: Pick<Item, 'from' | 'start' | 'end'>, isWanted: boolean): void {
    const last = this.items.at(-1)
    if (last !== undefined) last.next ??= from
    const neighbours = { previousEnd: this.end, isAfterKept: this.#keptCount > 0 }
    if (isWanted) this.items.push({ from, start, end, ...neighbours })
    else this.#keptCount += 1
    this.end = end
  }
}

function keyOf(segment: string): string {
  return segment.replaceAll('~1', '/').replaceAll('~0', '~')
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
