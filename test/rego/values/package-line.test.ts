import fc from 'fast-check'
import { expect, test } from 'vitest'

import { packagePath } from '../../../src/rego/values/package-line.js'

test.each([
  ['package a.b', ['a', 'b']],
  ['# package no\n\npackage a["b c"].d; import rego.v1', ['a', 'b c', 'd']],
  ['package a["b\\"] ; #"]["c"]', ['a', 'b"] ; #', 'c']],
  ['package a[ `b c` ].d\n', ['a', 'b c', 'd']],
  ['package\n  a # the first\n', ['a']],
])('the package of %j is %j', (text, path) => {
  expect(packagePath(text)).toEqual(path)
})

test.each(['package', 'package a[\n# why\n"b"]', 'package a .b', 'package a["b'])(
  'no part of a package is taken for the whole: %j',
  (text) => {
    expect(packagePath(text)).toBeUndefined()
  },
)

test('whatever the names are, they are read back', () => {
  fc.assert(
    fc.property(fc.array(fc.string()), (names) => {
      const text = `package a${names.map((name) => `[${JSON.stringify(name)}]`).join('')} # b`
      expect(packagePath(text)).toEqual(['a', ...names])
    }),
    { numRuns: 200 },
  )
})
