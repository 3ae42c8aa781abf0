import { expect, test } from 'vitest'

import { spellNumbers } from '../../../src/rego/workarounds/numbers-without-integer-part.js'

test.each([
  ['x := .5', 'x :=0.5'],
  ['x := -.5 + 1', 'x := -0.5 + 1'],
  ['default ratio := .25', 'default ratio :=0.25'],
  ['round(.7*100) > .5e1', 'round(0.7*100) >0.5e1'],
  ['[.5, .25, {.1: .2}]', '[0.5,0.25, {0.1:0.2}]'],
  ['x in .5', 'x in 0.5'],
  ['x := $"is {.5 + 1} or {input.n*.5}, .5"', 'x := $"is {0.5 + 1} or {input.n*0.5}, .5"'],
  ['x := $`is {$"{.5} .5"} .5`; y := .5', 'x := $`is {$"{0.5} .5"} .5`; y :=0.5'],
])('a number without digits before its point gets a zero: %s', (text, spelt) => {
  expect(spellNumbers(text)).toBe(spelt)
})

test.each(['a.b[0].c', '1.5 + 2.25', '"x .5"', '`.5`', '# .5', 'f(x).y', 'input["a.5"]', 'data.x'])(
  'anything else stays as it is: %s',
  (text) => {
    expect(spellNumbers(text)).toBe(text)
    expect(spellNumbers(`${text}\ny := .5`)).toBe(`${text}\ny :=0.5`)
  },
)
