import { expect, test } from 'vitest'

import { quoteKeywordMembers } from '../../../src/rego/modules/locate-calls.js'
import { expandTemplateStrings } from '../../../src/rego/modules/tokens/template-strings.js'

test.each([
  ['data.foo.not.bar', 'data.foo["not"].bar'],
  ['package a.in', 'package a["in"]'],
  ['x[0].if == f(1).with', 'x[0]["if"] == f(1)["with"]'],
  ['x.notable.inner', 'x.notable.inner'],
  ['"a.not" # a.not', '"a.not" # a.not'],
  ['`a.not` == a.not', '`a.not` == a["not"]'],
])('the keyword in %s is put in brackets where it is a name', (text, expected) => {
  expect(quoteKeywordMembers(text)).toBe(expected)
})

const expression = (code: string): string =>
  `array.concat([sprintf("%v", [tidegate_value]) | tidegate_value := ${code}], ["<undefined>"])[0]`

test.each([
  ['$""', 'concat("", [""])'],
  ['$"a {x} b"', `concat("", ["a ", ${expression('x')}, " b"])`],
  ['$"\\{x}"', 'concat("", ["{x}"])'],
  ['$"{{1: "}"}}"', `concat("", ["", ${expression('{1: "}"}')}, ""])`],
  ['$"{$"{x}"}"', `concat("", ["", ${expression(`concat("", ["", ${expression('x')}, ""])`)}, ""])`],
  ['"$" # $"{x}"', '"$" # $"{x}"'],
  ['$"{x', '$"{x'],
])('the template string %s is put in calls', (text, expected) => {
  expect(expandTemplateStrings(text)).toBe(expected)
})

test('what follows a template string of several lines stays on its line', () => {
  const expanded = expandTemplateStrings('x := $`a\n{y}\nb`\nz := 1')
  expect(expanded.split('\n').indexOf('z := 1')).toBe(3)
})
