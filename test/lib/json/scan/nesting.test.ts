import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { holdsMoreValues, nestsDeeper } from '../../../../src/lib/json/scan/nesting.js'

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Math.max(0, ...Object.values(value).map(depthOf))
}

/** Values and, of objects and arrays, one more each, as commas and brackets are counted. */
function bracketsAndCommas(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const members = Object.values(value)
  return (
    1 +
    Math.max(0, members.length - 1) +
    members.reduce<number>((sum, one) => sum + bracketsAndCommas(one), 0)
  )
}

/** Strings made of characters that end a string, or seem to. */
const tricky = fc.string({ unit: fc.constantFrom('"', '\\', '{', '[', ']', '}', ',', 'a') })
const documents = fc
  .jsonValue({ maxDepth: 5 })
  .chain((value) => tricky.map((text) => [value, text, { [text]: value }]))

describe('the nesting of a JSON text', () => {
  it('equals that of its value, regardless of string contents', () => {
    fc.assert(
      fc.property(documents, (value) => {
        const json = JSON.stringify(value)
        const depth = depthOf(value)
        expect(nestsDeeper(json, depth)).toBe(false)
        expect(nestsDeeper(json, depth - 1)).toBe(true)
      }),
    )
  })

  it('and so is the number of its values', () => {
    fc.assert(
      fc.property(documents, (value) => {
        const json = JSON.stringify(value)
        const count = 1 + bracketsAndCommas(value)
        expect(holdsMoreValues(json, count)).toBe(false)
        expect(holdsMoreValues(json, count - 1)).toBe(true)
      }),
    )
  })

  it('is found in a text that ends within one of its texts', () => {
    expect(nestsDeeper('[["\\"[[[[', 3)).toBe(false)
    expect(nestsDeeper('[[["', 2)).toBe(true)
  })

  it('ignores closed containers and brackets inside strings', () => {
    expect(nestsDeeper('[{},{},[],[],"[[[["]', 2)).toBe(false)
    expect(nestsDeeper('[{},{},[],[{}]]', 2)).toBe(true)
  })
})
