import { describe, expect, test } from 'vitest'

import { readTokens } from '../../../src/rego/modules/tokens/read-tokens.js'
import { findMixedTypes } from '../../../src/rego/lint/check-mixed-types.js'

const found = (body: string): string[] => {
  const { tokens } = readTokens(`package p\nimport rego.v1\ndeny contains msg if {\n${body}\n}\n`)
  return findMixedTypes(tokens).map(({ subject, builtin }) => `${builtin} ${subject}`)
}

describe('a number that is passed to a built-in of strings', () => {
  test.each([
    ['in a list', 's.wait > 3600\nmsg := concat(" ", ["long:", s.name, s.wait])', ['concat s.wait']],
    ['alone', 'input.n >= 3\nstartswith(input.n, "x")', ['startswith input.n']],
    ['by the name of a member', 's["wait"] < 5\nmsg := upper(s["wait"])', ['upper s["wait"]']],
    ['in a comprehension', 'x > 1\nmsg := concat(",", [x | some y in xs])', ['concat x']],
  ])('is found %s', (_, body, expected) => {
    expect(found(body)).toEqual(expected)
  })

  test.each([
    ['a text of it', 's.wait > 3600\nmsg := concat(" ", [sprintf("%v", [s.wait]), s.name])'],
    ['a condition of a comprehension', 's.wait > 1\nmsg := concat(",", [s.name | some s in ss; s.wait > 3])'],
    ['a comparison with another reference', 's.wait > input.most\nmsg := upper(s.wait)'],
    ['another member', 's.wait > 3\nmsg := upper(s.wait_text)'],
    ['a built-in that takes all', 's.wait > 3\nmsg := sprintf("%v", [s.wait])'],
  ])('is not %s', (_, body) => {
    expect(found(body)).toEqual([])
  })
})
