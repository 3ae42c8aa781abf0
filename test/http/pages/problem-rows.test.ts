import { expect, test } from 'vitest'

import { problemRows } from '../../../src/http/pages/problem-rows.js'

const rowsOf = (text: string, ...messages: readonly string[]): readonly number[] =>
  problemRows(
    text,
    messages.map((message) => ({ code: 'invalid_field', message })),
  ).map(({ row }) => row)

test('a problem is shown at the line of the member that its message begins with', () => {
  const yaml = 'lifetimeMinutes: -1\nmetrics:\n  groups:\n    - group: a\n    - group: b\n      metrics: []\n'
  expect(
    rowsOf(yaml, 'lifetimeMinutes must be positive', 'metrics.groups[1].metrics must not be empty'),
  ).toEqual([1, 6])
  const json = '{\n  "a": [\n    1,\n    2\n  ]\n}'
  expect(rowsOf(json, 'a[1] must be a string')).toEqual([4])
})

test('a missing member is shown at the member above it, and a problem of the whole at no line', () => {
  const yaml = 'name: x\nmetrics:\n  groups: []\n'
  expect(rowsOf(yaml, 'metrics.interval is required')).toEqual([2])
  expect(rowsOf(yaml, 'the document must be an object')).toEqual([])
})

test('a document that is too long to be searched has no marks', () => {
  expect(rowsOf(`a: ${'x'.repeat(100_000)}`, 'a must be a number')).toEqual([])
})
