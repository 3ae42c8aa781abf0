import { isUtf8 } from 'node:buffer'
import { beforeAll, expect, test } from 'vitest'

import { locateInput } from '../../../../src/lib/json/scan/locate-input.js'
import { scanValue } from '../../../../src/lib/json/scan/scan-value.js'
import { hasKnownLayout } from '../../../../src/rego/wasm/reader/known-layout.js'
import { JsonGenerator } from '../../../support/generate-json.js'
import { openReader } from '../../../support/open-reader.js'
import type { OpenReader } from '../../../support/open-reader.js'

const KEYS: readonly string[] = [
  '"input"',
  '"Input"',
  '"INPUT"',
  '"\\u0069nput"',
  '"inpu"',
  '"inputs"',
  '"x"',
]
/**
 * OPA's parser loses a bit of surrogate pairs that begin with this unit (from U+10000 on); Go does
 * not.
 */
const MISREAD_PAIR = /\\ud[89ab][4-7c-f]/i

let reader: OpenReader

beforeAll(async () => {
  reader = await openReader()
})

function tell<T>(look: () => T): T | 'malformed' {
  try {
    return look()
  } catch {
    return 'malformed'
  }
}

function isComparable(text: Uint8Array): boolean {
  return isUtf8(text) && !MISREAD_PAIR.test(Buffer.from(text).toString())
}

function checkDocument(document: Buffer): void {
  const isValid = tell(() => scanValue(document, 0)) !== 'malformed'
  const value = reader.readDocument(document)
  expect(value !== 0, document.toString()).toBe(isValid)
  if (value !== 0 && isComparable(document)) {
    expect(reader.isAsParsed(value, document), document.toString()).toBe(true)
  }
}

function checkRequest(body: Buffer): void {
  const located = tell(() => locateInput(body))
  const read = reader.readRequest(body)
  if (located === undefined || located === 'malformed') {
    expect(read, body.toString()).toBeUndefined()
    return
  }
  expect(read, body.toString()).toMatchObject(located)
  const input = body.subarray(located.start, located.end)
  if (read !== undefined && isComparable(body)) {
    expect(reader.isAsParsed(read.value, input), body.toString()).toBe(true)
  }
}

test.each([1, 2, 3, 4])('random documents of seed %i are read as by the module', (seed) => {
  const json = new JsonGenerator(seed)
  for (let i = 0; i < 400; i++) checkDocument(Buffer.from(json.value(4)))
})

test.each([5, 6, 7, 8])(
  'the input of random bodies of seed %i has the offsets that the scan finds',
  (seed) => {
    const json = new JsonGenerator(seed)
    for (let i = 0; i < 300; i++) {
      const body = json.object(json.below(5), () => json.pick(KEYS), 4)
      checkRequest(Buffer.from(`${json.space()}${body}${json.pick(['', ' x', '}'])}`))
    }
  },
)

test.each([9, 10, 11, 12])('damaged texts of seed %i are refused if the scan refuses them', (seed) => {
  const json = new JsonGenerator(seed)
  for (let i = 0; i < 700; i++) {
    checkDocument(json.damage(Buffer.from(` ${json.value(3)}`)))
    checkRequest(json.damage(Buffer.from(json.object(3, () => json.pick(KEYS), 3))))
  }
})

test.each([0, 1, 5, 6, 11, 12, 22, 23, 10_000])('an object of %i keys has the same layout', (size) => {
  const members = Array.from({ length: size }, (_, index) => [`key${index * 17}`, index])
  checkDocument(Buffer.from(JSON.stringify(Object.fromEntries(members))))
})

test('repeated keys do not enlarge an object', () => {
  const keys = Array.from({ length: 600 }, (_, index) => `"k${index % 5}":${index}`)
  checkDocument(Buffer.from(`{${keys.join(',')}}`))
})

test.each([
  ['[', ']'],
  ['{"a":', '}'],
])('ten thousand levels of %s are read, one more is not', (open, close) => {
  const nested = (levels: number): Buffer =>
    Buffer.from(`${open.repeat(levels)}${open === '[' ? '' : '1'}${close.repeat(levels)}`)
  expect(reader.readDocument(nested(10_000))).not.toBe(0)
  expect(reader.readDocument(nested(10_001))).toBe(0)
})

test('the other members of a body count as a level around the input', () => {
  const body = (levels: number): Buffer => Buffer.from(`{"input":${'['.repeat(levels)}${']'.repeat(levels)}}`)
  expect(reader.readRequest(body(9_999))).toBeDefined()
  expect(reader.readRequest(body(10_000))).toBeUndefined()
})

test('surrogate pairs of every plane are read as in Go', () => {
  const value = reader.readDocument(Buffer.from('["\\ud8fd\\ude00","\\udbff\\udfff"]'))
  reader.pair.reader.finish()
  expect(reader.dump(value)).toBe('["\u{4f600}","\u{10ffff}"]')
})

test('colliding keys are left to the parser that fuel limits', () => {
  const keys = collidingKeys(1_000).map((key) => `"${key}":1`)
  expect(reader.readDocument(Buffer.from(`{${keys.join(',')}}`))).toBe(0)
})

test('both readers agree on the samples of the layout check', () => {
  expect(hasKnownLayout(reader.pair)).toBe(true)
})

test('a runtime with another layout is detected', () => {
  const { pair } = reader
  const shifted = { ...pair.policy, opa_malloc: (length: number) => pair.policy.opa_malloc(length) + 4 }
  expect(hasKnownLayout({ ...pair, policy: shifted })).toBe(false)
  const other = { ...pair.policy, opa_json_parse: (at: number, length: number) => at + length }
  expect(hasKnownLayout({ ...pair, policy: other })).toBe(false)
})

/**
 * Keys whose hashes share the last 11 bits, which select one of the 2,048 buckets of an object of
 * 1,000 members.
 */
function collidingKeys(count: number): string[] {
  const keys: string[] = []
  for (let number = 0; keys.length < count; number++) {
    const key = number.toString(36)
    let hash = 0x811c9dc5
    for (let i = 0; i < key.length; i++) hash = Math.imul(hash, 0x01000193) ^ key.charCodeAt(i)
    if ((hash & 0x7ff) === 0) keys.push(key)
  }
  return keys
}
