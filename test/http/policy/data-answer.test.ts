import { expect, test } from 'vitest'

import { prettyJson } from '../../../src/http/policy/data-answer.js'

const chain = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)
const chains = (count: number, depth: number): string => `[${new Array(count).fill(chain(depth)).join(',')}]`

test('an answer is laid out with two spaces per level', () => {
  expect(prettyJson('{"result":{"a":[1,"x,[y\\""],"b":{}}}')).toBe(
    '{\n  "result": {\n    "a": [\n      1,\n      "x,[y\\""\n    ],\n    "b": {}\n  }\n}',
  )
})

test.each([
  ['lists in lists, which would become hundreds of times as long', chains(400, 250)],
  ['one chain of the deepest kind', chain(9000)],
  ['an answer that nobody reads', `"${'x'.repeat(1_100_000)}"`],
])('an answer stays as it is where laying it out costs too much: %s', (_, compact) => {
  expect(prettyJson(compact)).toBe(compact)
})

test('signs within texts do not count', () => {
  const compact = JSON.stringify(['[{,:'.repeat(100_000), '\\"[['.repeat(50_000)])
  expect(prettyJson(compact)).toBe(JSON.stringify(JSON.parse(compact), null, 2))
})
