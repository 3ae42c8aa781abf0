import { expect, test } from 'vitest'

import { changedPaths } from '../../../src/rego/index.js'

const LIB = 'package lib.team\nlimit := 5\n'
const WAITS = 'package static.waits\nimport data.lib.team\ndeny contains "x" if input.wait > team.limit\n'
const OWNED = 'package static.owned\ndeny contains "y" if not data.owners[input.name]\n'
const ANY = 'package static.any\ndeny contains "z" if data[input.name]\n'

const sources = (texts: readonly string[], data: Readonly<Record<string, string>> = {}) => ({
  rego: texts.map((text, index) => ({ file: `${index}.rego`, text })),
  data: Object.entries(data).map(([at, content]) => ({
    file: `${at}/data.json`,
    at: [at],
    content: Buffer.from(content),
  })),
})

/** Returns the static packages that changed. */
function changed(before: ReturnType<typeof sources>, after: ReturnType<typeof sources>): string[] {
  const isChanged = changedPaths(before, after)
  return ['waits', 'owned', 'any'].filter((name) => isChanged(['static', name]))
}

test('equal files have not changed, in whichever order', () => {
  expect(changed(sources([LIB, WAITS]), sources([WAITS, LIB]))).toEqual([])
})

test('a package has changed with its files', () => {
  const longer = `${WAITS}deny contains "w" if input.wait == 3\n`
  expect(changed(sources([LIB, WAITS, OWNED]), sources([LIB, longer, OWNED]))).toEqual(['waits'])
  expect(changed(sources([LIB, OWNED]), sources([LIB, OWNED, WAITS]))).toEqual(['waits'])
})

test('a package has changed with a library that it uses, also with one that is gone', () => {
  const other = LIB.replace('5', '6')
  expect(changed(sources([LIB, WAITS, OWNED]), sources([other, WAITS, OWNED]))).toEqual(['waits'])
  expect(changed(sources([LIB, WAITS, OWNED]), sources([WAITS, OWNED]))).toEqual(['waits'])
})

test('a package has changed with one that a library uses', () => {
  const indirect = 'package lib.team\nlimit := data.deep.limit\n'
  const deep = (limit: number): string => `package deep\nlimit := ${limit}\n`
  expect(
    changed(sources([indirect, WAITS, OWNED, deep(1)]), sources([indirect, WAITS, OWNED, deep(2)])),
  ).toEqual(['waits'])
})

test('a package has changed with data that it reads', () => {
  const [before, after] = ['{"shop": "ana"}', '{"shop": "bob"}'].map((owners) =>
    sources([WAITS, OWNED, LIB], { owners }),
  )
  expect(before && after && changed(before, after)).toEqual(['owned'])
})

test('a package that reads data by a name in the input has changed with anything', () => {
  expect(changed(sources([ANY, LIB]), sources([ANY, LIB.replace('5', '6')]))).toEqual(['any'])
})

test('a package has changed with an annotation of the package above it', () => {
  const above = '# METADATA\n# scope: subpackages\n# custom:\n#   level: warn\npackage static\n'
  expect(changed(sources([OWNED]), sources([OWNED, above]))).toContain('owned')
})

test('a rule that another package defines in it is a part of it', () => {
  const defining = (text: string): string => `package static\nowned.deny contains "${text}"\n`
  expect(changed(sources([OWNED, defining('a')]), sources([OWNED, defining('b')]))).toContain('owned')
})
