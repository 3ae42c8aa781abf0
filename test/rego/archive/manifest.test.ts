import { expect, test } from 'vitest'

import { readManifest } from '../../../src/rego/archive/manifest.js'

const read = (manifest: object): unknown =>
  readManifest('a.tar.gz', new Map([['.manifest', Buffer.from(JSON.stringify(manifest))]]))

test.each([
  [['a', 'a-b', 'a/b'], "the root 'a/b' is in the root 'a'"],
  [['a/b/c', 'b', 'a'], "the root 'a/b/c' is in the root 'a'"],
  [['a', '/a/'], "the root 'a' is in the root 'a'"],
  [['a', ''], "the root 'a' is in the root ''"],
  [['', '/'], "the root '' is in the root ''"],
])('roots inside of each other are refused: %j', (roots, problem) => {
  expect(() => read({ roots })).toThrow(problem)
})

test('roots apart from each other are accepted', () => {
  expect(read({ roots: ['a', 'a-b', 'ab/c', '/b/'] })).toMatchObject({ roots: ['a', 'a-b', 'ab/c', 'b'] })
})

// Comparing each with all others would take minutes.
test('hundreds of thousands of roots are checked', () => {
  const roots = Array.from({ length: 300_000 }, (_, place) => `a/r${place}`)
  expect(() => read({ roots: [...roots, 'a/r299999/x'] })).toThrow("'a/r299999/x' is in the root 'a/r299999'")
})

test('a root of a million segments is refused', () => {
  expect(() => read({ roots: ['a/'.repeat(1_000_000)] })).toThrow('a root has more than 1000 characters')
})

test('a revision that no list and no log could show is refused', () => {
  expect(() => read({ revision: 'r'.repeat(1001) })).toThrow('the revision has more than 1000 characters')
  expect(read({ revision: 'r'.repeat(1000) })).toMatchObject({ revision: 'r'.repeat(1000) })
})
