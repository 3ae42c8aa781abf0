import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DocumentSplitter } from '../../../../src/lib/json/scan/document-splitter.js'
import type { StreamedArrays } from '../../../../src/lib/json/scan/document-splitter.js'

const MB = 1024 * 1024

/** Returns a text to a splitter in pieces of this many bytes. */
function split(text: string, arrays: StreamedArrays, pieceBytes = 64 * 1024): unknown {
  const splitter = new DocumentSplitter(arrays)
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += pieceBytes) splitter.push(bytes.subarray(at, at + pieceBytes))
  return splitter.end()
}

describe('a document that is read while it comes', () => {
  it('is the same for any cut and any values', () => {
    const series = fc.record({ metric: fc.jsonValue(), values: fc.array(fc.jsonValue(), { maxLength: 6 }) })
    const document = fc.record({
      ...{ status: fc.jsonValue(), 'da"ta': fc.jsonValue(), values: fc.array(fc.jsonValue()) },
      data: fc.record({ kind: fc.jsonValue(), result: fc.array(series, { maxLength: 6 }) }),
    })
    fc.assert(
      fc.property(document, fc.integer({ min: 1, max: 40 }), fc.constantFrom(0, 2), (json, bytes, indent) => {
        const values: unknown[] = []
        const results: unknown[] = []
        const rest = split(
          JSON.stringify(json, undefined, indent),
          {
            members: {
              data: {
                members: {
                  result: {
                    take: (some) => results.push(...some),
                    elements: { members: { values: { take: (some) => values.push(...some) } } },
                  },
                },
              },
            },
          },
          bytes,
        )
        const plain = JSON.parse(JSON.stringify(json)) as typeof json
        expect(values).toEqual(plain.data.result.flatMap((one) => one.values))
        expect(results).toEqual(plain.data.result.map((one) => ({ ...one, values: [] })))
        expect(rest).toEqual({ ...plain, data: { ...plain.data, result: [] } })
      }),
      { numRuns: 200 },
    )
  })

  it('hands over nested elements before their element if requested', () => {
    const order: unknown[] = []
    const take = (some: readonly unknown[]): void => void order.push(...some)
    split('[[1,2],[],[3]]', { take, isOneByOne: true, elements: { take } })
    expect(order).toEqual([1, 2, [], [], 3, []])
  })

  it.each([
    '',
    '[',
    '[1,]',
    '[,1]',
    '[1 2]',
    '[1,,2]',
    '[{"a":1]',
    '[1]]',
    '[1] 2',
    '{"a":[1,}',
    '["',
    '[1,2',
    '<html>',
  ])('is refused where it is not JSON: %j', (text) => {
    const arrays = { take: () => undefined, members: { a: { take: () => undefined } } }
    expect(() => split(text, arrays)).toThrow('malformed JSON')
  })

  it('is JSON to it exactly when it is to others, as far as it is handed over', () => {
    const token = fc.constantFrom('[', ']', '{', '}', ',', ':', '"a"', '"b\\""', '1', 'null', ' ', '"')
    fc.assert(
      fc.property(fc.array(token, { maxLength: 12 }), (tokens) => {
        const text = `{"a":[${tokens.join('')}]}`
        const isJson = (read: () => unknown): boolean => {
          try {
            read()
            return true
          } catch {
            return false
          }
        }
        const take = (): void => undefined
        const arrays = { members: { a: { take, elements: { take, members: { a: { take } } } } } }
        expect(isJson(() => split(text, arrays, 3))).toBe(isJson(() => JSON.parse(text)))
      }),
      { numRuns: 2000 },
    )
  })

  it('is refused where a part of it is too large, or it is nested too deeply', () => {
    const long = `"${'x'.repeat(5 * MB)}"`
    expect(() => split(`{"a":[${long}]}`, { members: { a: { take: () => undefined } } })).toThrow(
      'an entry of its lists takes more than 4194304 bytes',
    )
    expect(() => split(long, {})).toThrow('the content outside its lists takes more than')
    expect(() => split(`[${'{},'.repeat(300_000)}{}]`, {})).toThrow('more than 200000 values')
    expect(() => split('['.repeat(100_000), {})).toThrow('nested more than')
  })

  it('of 8 MB is handed over in small parts', () => {
    let most = 0
    let count = 0
    const take = (some: readonly unknown[]): void => {
      most = Math.max(most, some.length)
      count += some.length
    }
    const splitter = new DocumentSplitter({ members: { list: { take } } })
    splitter.push(Buffer.from('{"list":[0'))
    const piece = Buffer.from(',1234567'.repeat(8 * 1024))
    for (let at = 0; at < 128; at++) splitter.push(piece)
    splitter.push(Buffer.from(']}'))
    expect(splitter.end()).toEqual({ list: [] })
    expect(count).toBe(1 + 128 * 8 * 1024)
    expect(most).toBeLessThan(20_000)
  })
})
