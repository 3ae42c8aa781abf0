import { expect, test } from 'vitest'

import { inStageOrder } from '../../../src/rego/evaluation/stage-order.js'

const STAGES = [
  { name: 'Wait' },
  { name: 'Deploy' },
  { name: 'Deploy to production' },
  { refId: '10', type: 'wait' },
  'no stage',
  { name: 'Clean up' },
]
const SORTED = [
  "pipeline 'main' needs roles",
  "stage '' is odd",
  'stage 10 (wait, no name) waits 9 seconds',
  'stage 5 of the list cannot be read',
  "stage 'Clean up' waits 9 seconds",
  "stage 'Deploy to production' opens 'lb' to the internet",
  "stage 'Deploy' has no Wait before it",
  "stage 'Wait' waits 9 seconds",
]
const EXPECTED = [
  "pipeline 'main' needs roles",
  "stage '' is odd",
  "stage 'Wait' waits 9 seconds",
  "stage 'Deploy' has no Wait before it",
  "stage 'Deploy to production' opens 'lb' to the internet",
  'stage 10 (wait, no name) waits 9 seconds',
  'stage 5 of the list cannot be read',
  "stage 'Clean up' waits 9 seconds",
]
const order = (input: unknown, texts: readonly string[] = SORTED): string[] => {
  const denials = texts.map((text) => ({ packageName: 'static.a', text }))
  return inStageOrder(denials, Buffer.from(JSON.stringify(input))).map(({ text }) => text)
}

test.each([
  ['a saved pipeline', { new: { stages: STAGES } }],
  ['a pipeline', { pipeline: { name: 'main', stages: STAGES } }],
  ['an execution', { application: 'shop', execution: { stages: STAGES } }],
  ['the input itself', { stages: STAGES }],
])('the reasons of a denial are in the order of the stages of %s', (_, input) => {
  expect(order(input)).toEqual(EXPECTED)
})

test.each([
  ['no stages', { new: { name: 'main' } }],
  ['stages that are no list', { stages: { Wait: 1 }, new: 'x' }],
  ['no members', []],
  ['too many stages', { stages: Array.from({ length: 20_000 }, (_, n) => ({ name: `Wait ${n}` })) }],
])('an input with %s leaves the order of the texts', (_, input) => {
  expect(order(input)).toEqual(SORTED)
})

test('a name within a longer word names no stage', () => {
  const input = { stages: [{ name: 'b' }, { name: 'a' }] }
  expect(order(input, ["'a' is bad", 'bab is bad'])).toEqual(['bab is bad', "'a' is bad"])
})
