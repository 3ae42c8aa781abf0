import { compareStrings } from '../../lib/text/compare-strings.js'
import { compareNumberText, normaliseNumberText } from './number-text.js'

/**
 * A Rego value outside the WASM memory. Numbers keep their source text, sets stay sets, and object
 * keys may be any value, so built-ins lose nothing.
 */
export type RegoValue = null | boolean | string | RegoNumber | RegoArray | RegoSet | RegoObject
export type RegoArray = readonly RegoValue[]

const POINT_FIRST = /^-?\./

/** A number of any size and precision, as its JSON text. */
export class RegoNumber {
  readonly text: string

  /** Adds the zero that JSON requires to numbers such as `.5` and `-.5`. */
  constructor(text: string) {
    this.text = POINT_FIRST.test(text) ? text.replace('.', '0.') : text
  }

  static of(value: number | bigint): RegoNumber {
    return new RegoNumber(typeof value === 'bigint' ? value.toString() : numberToText(value))
  }

  /** The nearest double. */
  toNumber(): number {
    return Number(this.text)
  }

  /** Returns the exact integer; undefined for a fraction (`1.0` and `1e3` are integers). */
  toBigInt(): bigint | undefined {
    if (/^-?\d+$/.test(this.text)) return BigInt(this.text)
    const normal = normaliseNumberText(this.text)
    return /^-?\d+$/.test(normal) ? BigInt(normal) : undefined
  }
}

/** A set: members distinct by Rego equality and in Rego order. */
export class RegoSet {
  readonly members: RegoArray
  readonly #keys: ReadonlySet<string>

  constructor(members: Iterable<RegoValue>) {
    const byKey = new Map<string, RegoValue>()
    for (const member of members) byKey.set(identityKey(member), member)
    this.members = [...byKey.values()].sort(compareValues)
    this.#keys = new Set(byKey.keys())
  }

  has(value: RegoValue): boolean {
    return this.#keys.has(identityKey(value))
  }
}

/** The most frequent value of rules, and its Rego text. */
export const EMPTY_SET = new RegoSet([])
export const EMPTY_SET_TEXT = 'set()'

export type RegoEntries = readonly (readonly [key: RegoValue, value: RegoValue])[]

/** An object: keys distinct by Rego equality (the last wins), entries in Rego key order. */
export class RegoObject {
  readonly #entries: RegoEntries
  /** Created at the first lookup. Most objects are only iterated. */
  #values: ReadonlyMap<string, RegoValue> | undefined

  constructor(entries: Iterable<readonly [RegoValue, RegoValue]>) {
    const sorted = [...entries].sort((a, b) => compareValues(a[0], b[0]))
    // Sorting is stable: the last of equal keys comes last.
    this.#entries = sorted.filter((entry, place) => {
      const next = sorted[place + 1]
      return next === undefined || compareValues(entry[0], next[0]) !== 0
    })
  }

  get entries(): RegoEntries {
    return this.#entries
  }

  /** Returns the keys in order, without reading lazy values. */
  get keys(): readonly RegoValue[] {
    return this.#entries.map(([key]) => key)
  }

  /** The number of entries. */
  get size(): number {
    return this.#entries.length
  }

  /** Returns true if the object has the key, without reading its value. */
  has(key: RegoValue): boolean {
    return this.#byKey.has(identityKey(key))
  }

  static fromRecord(record: Readonly<Record<string, RegoValue>>): RegoObject {
    return new RegoObject(Object.entries(record))
  }

  get(key: RegoValue): RegoValue | undefined {
    return this.#byKey.get(identityKey(key))
  }

  get #byKey(): ReadonlyMap<string, RegoValue> {
    this.#values ??= new Map(this.#entries.map(([key, value]) => [identityKey(key), value]))
    return this.#values
  }
}

export type RegoTypeName = 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object' | 'set'

/** Returns the result of Rego's `type_name`. */
export function typeName(value: RegoValue): RegoTypeName {
  if (value === null) return 'null'
  if (typeof value === 'boolean') return 'boolean'
  if (typeof value === 'string') return 'string'
  if (value instanceof RegoNumber) return 'number'
  if (value instanceof RegoSet) return 'set'
  if (value instanceof RegoObject) return 'object'
  return 'array'
}

const TYPE_ORDER: Readonly<Record<RegoTypeName, number>> = {
  null: 0,
  boolean: 1,
  number: 2,
  string: 3,
  array: 4,
  object: 5,
  set: 6,
}

/**
 * Rego's total order: null < boolean < number < string < array < object < set. Negative, zero or
 * positive.
 */
export function compareValues(a: RegoValue, b: RegoValue): number {
  if (typeof a === 'string' && typeof b === 'string') return compareStrings(a, b)
  const typeA = typeName(a)
  const typeB = typeName(b)
  if (typeA !== typeB) return TYPE_ORDER[typeA] - TYPE_ORDER[typeB]
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b)
  if (a instanceof RegoNumber && b instanceof RegoNumber) return compareNumberText(a.text, b.text)
  if (a instanceof RegoSet && b instanceof RegoSet) return compareArrays(a.members, b.members)
  if (a instanceof RegoObject && b instanceof RegoObject) return compareObjects(a, b)
  if (Array.isArray(a) && Array.isArray(b)) return compareArrays(a, b)
  return 0
}

/** Rego equality: `1` equals `1.0`, sets and objects by content. */
export function equalValues(a: RegoValue, b: RegoValue): boolean {
  return compareValues(a, b) === 0
}

function compareArrays(a: RegoArray, b: RegoArray): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const order = compareValues(a[i] as RegoValue, b[i] as RegoValue)
    if (order !== 0) return order
  }
  return a.length - b.length
}

/** OPA's order of objects: the sorted keys and values alternately, then the number of entries. */
function compareObjects(a: RegoObject, b: RegoObject): number {
  const length = Math.min(a.entries.length, b.entries.length)
  for (let i = 0; i < length; i++) {
    const [keyA, valueA] = a.entries[i] as readonly [RegoValue, RegoValue]
    const [keyB, valueB] = b.entries[i] as readonly [RegoValue, RegoValue]
    const order = compareValues(keyA, keyB) || compareValues(valueA, valueB)
    if (order !== 0) return order
  }
  return a.entries.length - b.entries.length
}

/** Returns a text that two values share exactly if they are equal in Rego. */
export function identityKey(value: RegoValue): string {
  if (typeof value === 'string') return `"${value}`
  if (value instanceof RegoNumber) return `#${normaliseNumberText(value.text)}`
  if (value === null || typeof value === 'boolean') return String(value)
  if (value instanceof RegoSet) return `<${value.members.map(sizedKey).join('')}>`
  if (value instanceof RegoObject) {
    return `{${value.entries.map(([k, v]) => sizedKey(k) + sizedKey(v)).join('')}}`
  }
  return `[${value.map(sizedKey).join('')}]`
}

function sizedKey(value: RegoValue): string {
  const key = identityKey(value)
  return `${key.length}:${key}`
}

/** JavaScript writes 1e+21, JSON and Go accept it; integers below 2^53 stay plain digits. */
function numberToText(value: number): string {
  if (!Number.isFinite(value)) throw new RangeError(`not a JSON number: ${value}`)
  return Object.is(value, -0) ? '0' : String(value)
}
