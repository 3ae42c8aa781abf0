import { expect, test } from 'vitest'

import { judgeStage } from '../../src/distribution/judge-stage.js'

const BOUNDS = { minutes: 10, decisions: 100, maxErrors: 1, maxFlips: 3 }
const MINUTE_MS = 60_000
const counts = { compared: 100, flips: 0, errors: 0 }

test('a stage ends once both its time and its number of decisions are reached', () => {
  expect(judgeStage(BOUNDS, counts, 10 * MINUTE_MS - 1)).toBeUndefined()
  expect(judgeStage(BOUNDS, { ...counts, compared: 99 }, 20 * MINUTE_MS)).toBeUndefined()
  expect(judgeStage(BOUNDS, counts, 10 * MINUTE_MS)).toEqual({
    isPromoted: true,
    reason: '0 new errors and 0 other answers in 100 compared decisions',
  })
})

test('a stage is taken back by one error or one other answer above the bounds, however short it was', () => {
  expect(judgeStage(BOUNDS, { ...counts, errors: 1, flips: 3 }, 0)).toBeUndefined()
  expect(judgeStage(BOUNDS, { compared: 5, errors: 2, flips: 0 }, 0)).toEqual({
    isPromoted: false,
    reason: '2 new errors in 5 compared decisions, at most 1 allowed',
  })
  expect(judgeStage(BOUNDS, { compared: 5, errors: 0, flips: 4 }, 20 * MINUTE_MS)).toEqual({
    isPromoted: false,
    reason: '4 other answers in 5 compared decisions, at most 3 allowed',
  })
})

test('without a bound, other answers are reported and only errors take a stage back', () => {
  const unbounded = { ...BOUNDS, maxFlips: undefined }
  expect(judgeStage(unbounded, { ...counts, flips: 100 }, 10 * MINUTE_MS)).toEqual({
    isPromoted: true,
    reason: '0 new errors and 100 other answers in 100 compared decisions',
  })
  expect(judgeStage(unbounded, { ...counts, flips: 100, errors: 2 }, 0)).toMatchObject({ isPromoted: false })
})
