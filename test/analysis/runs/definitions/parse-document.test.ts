import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import {
  parseDocumentFile,
  parseJsonDocument,
} from '../../../../src/analysis/runs/definitions/parse-document.js'

const UNITS = ['{', '}', '[', ']', '"', ',', ':', '\\', ' ', '1', 'e', '-', 't', 'n', '&', '*', '!', '|']

describe('a document from the wire', () => {
  it('is what JSON says', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(parseJsonDocument(text)).toEqual(JSON.parse(text))
      }),
      { numRuns: 300 },
    )
  })

  it('is a value or an error that says what is wrong, whatever was sent', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...UNITS) }), (text) => {
        try {
          expect(parseJsonDocument(text)).toEqual(JSON.parse(text))
        } catch (error) {
          expect(error).toMatchObject({
            kind: 'invalid',
            message: expect.stringMatching(/^the document/) as string,
          })
        }
      }),
      { numRuns: 300 },
    )
  })

  it.each([
    ['YAML', 'metrics: &a [1]\n', 'the document is not JSON'],
    ['deep nesting', `${'['.repeat(100_000)}${']'.repeat(100_000)}`, 'nested more than 512 levels deep'],
    ['deep nesting that has no end', '{"a":'.repeat(50_000), 'nested more than 512 levels deep'],
    ['many values', `[${'1,'.repeat(20_000)}1]`, 'holds more than 10000 values'],
    ['many members', `{${'"a":1,'.repeat(20_000)}"a":1}`, 'holds more than 10000 values'],
  ])('is refused for %s', (_, text, reason) => {
    expect(() => parseJsonDocument(text)).toThrow(reason)
  })

  it('may hold brackets and commas in its texts', () => {
    const texts = ['['.repeat(600), ','.repeat(20_000), '"\\{'.repeat(600)]
    expect(parseJsonDocument(JSON.stringify(texts))).toEqual(texts)
  })
})

describe('a document in a file', () => {
  it('is JSON or YAML', () => {
    expect(parseDocumentFile('{"a":[1,{"b":null}]}')).toEqual({ a: [1, { b: null }] })
    expect(parseDocumentFile('a:\n  - 1\n  - b:\n')).toEqual({ a: [1, { b: null }] })
  })
})
