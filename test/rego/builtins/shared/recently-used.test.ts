import { expect, test } from 'vitest'

import { RecentlyUsed } from '../../../../src/rego/builtins/shared/recently-used.js'

test('what was not used for the longest goes first', () => {
  const made = new RecentlyUsed<number>(2)
  made.add('a', 1)
  made.add('b', 2)
  expect(made.get('a')).toBe(1)
  made.add('c', 3)
  expect(['a', 'b', 'c'].map((text) => made.get(text))).toEqual([1, undefined, 3])
})
