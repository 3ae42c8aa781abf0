import { describe, expect, test } from 'vitest'
import { canonicalJson } from '../../../../src/lib/json/edit/canonical.js'
import { goJsonString } from '../../../../src/lib/json/text/escape.js'
import { scanValue } from '../../../../src/lib/json/scan/scan-value.js'
import { makeRandom, randomJson, randomSpacing } from '../random-json.js'
import { readCases } from '../read-cases.js'

/** A value, whose characters are bytes, and its output by an OPA 0.70 server. */
interface TextCase {
  readonly bytes: string
  readonly compact: string
  readonly pretty: string
}

const cases = readCases('canonical-texts') as readonly TextCase[]

function canonical(bytes: Buffer, pretty = false): string {
  return canonicalJson(bytes, 0, bytes.length, { pretty }).toString()
}

/** The value with the members of every object in the order of their keys. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return new Map(entries.map(([key, member]) => [key, sorted(member)]))
}

/**
 * Compact text of a value that `sorted` made; a Map keeps the order that an object would lose for
 * keys such as `10`.
 */
function print(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(print).join(',')}]`
  if (value instanceof Map) {
    return `{${[...value].map(([key, member]) => `${goJsonString(String(key))}:${print(member)}`).join(',')}}`
  }
  return typeof value === 'string' ? goJsonString(value) : JSON.stringify(value)
}

describe('canonical JSON', () => {
  test.each(cases)('of $bytes equals the output of OPA', ({ bytes, compact, pretty }) => {
    const source = Buffer.from(bytes, 'latin1')
    expect(canonical(source)).toBe(compact)
    expect(canonical(source, true)).toBe(pretty)
  })

  test.each(cases)('of canonical JSON is unchanged: $compact', ({ compact, pretty }) => {
    const source = Buffer.from(compact)
    const result = canonicalJson(source, 0, source.length)
    expect(result.toString()).toBe(compact)
    expect(result.buffer).toBe(source.buffer)
    expect(result.byteOffset).toBe(source.byteOffset)
    expect(canonical(Buffer.from(pretty), true)).toBe(pretty)
    expect(canonical(Buffer.from(pretty))).toBe(compact)
  })

  test('covers the extent given and leaves the source alone', () => {
    const source = Buffer.from('[{"b":1,"a":"<"},2]')
    expect(canonicalJson(source, 1, 16).toString()).toBe('{"a":"\\u003c","b":1}')
    expect(source.toString()).toBe('[{"b":1,"a":"<"},2]')
  })

  test('of a string that grows sixfold is complete', () => {
    const source = Buffer.from(JSON.stringify(['<'.repeat(5_000), 'x'.repeat(300), '&'.repeat(10)]))
    expect(JSON.parse(canonical(source))).toEqual(JSON.parse(source.toString()))
    expect(canonical(source)).not.toMatch(/[<&]/)
  })

  test('of ten thousand levels is written without a stack', () => {
    const text = '{"b":['.repeat(5_000) + ']}'.repeat(5_000)
    expect(canonical(Buffer.from(text))).toBe(text)
  })

  test('puts members in order at every level of deep nesting', () => {
    const levels = 2_000
    const text = '{"b":'.repeat(levels) + '0' + ',"a":1}'.repeat(levels)
    const expected = '{"a":1,"b":'.repeat(levels) + '0' + '}'.repeat(levels)
    expect(canonical(Buffer.from(text))).toBe(expected)
  })

  test('puts an object of many members in order, the last of each key alone', () => {
    const keys = Array.from({ length: 100 }, (_, i) => `k${String((i * 37) % 50).padStart(2, '0')}`)
    const text = `{${keys.map((key, i) => `"${key}": ${i}`).join(' , ')}}`
    const last = Array.from({ length: 50 }, (_, i) => `k${String(i).padStart(2, '0')}`)
    const expected = `{${last.map((key) => `"${key}":${keys.lastIndexOf(key)}`).join(',')}}`
    expect(canonical(Buffer.from(text))).toBe(expected)
  })

  test.each(['\u0000', 'é', ' \u0001 ', '"', '{"a', '[}', '}]', ':,', '{"a":1,"'])(
    'of the broken text %j comes to an end',
    (text) => {
      expect(() => canonical(Buffer.from(text))).not.toThrow(RangeError)
      expect(() => canonical(Buffer.from(text), true)).not.toThrow(RangeError)
    },
  )

  test('of random documents equals their sorted print', () => {
    const random = makeRandom(7_919)
    for (let i = 0; i < 500; i++) {
      const value = randomJson(random, 5)
      const text = randomSpacing(random, value)
      const result = canonical(Buffer.from(text))
      expect(result, text).toBe(print(sorted(value)))
      const pretty = canonical(Buffer.from(text), true)
      expect(scanValue(Buffer.from(pretty), 0), pretty).toBe(Buffer.byteLength(pretty))
      expect(canonical(Buffer.from(pretty))).toBe(result)
    }
  })
})
