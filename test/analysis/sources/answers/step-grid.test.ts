import { describe, expect, test } from 'vitest'

import {
  lastStepMs,
  shortened,
  splitGrid,
  stepAround,
  stepAt,
  stepGrid,
} from '../../../../src/analysis/sources/answers/step-grid.js'

describe('the step grid of a window', () => {
  test.each([
    { name: 'starts at a multiple of the step', window: [61, 300], grid: [120, 3] },
    { name: 'includes the start and not the end', window: [120, 300], grid: [120, 3] },
    { name: 'is empty between two multiples', window: [61, 119], grid: [120, 0] },
    { name: 'is empty where the window is', window: [120, 120], grid: [120, 0] },
  ])('$name', ({ window: [startMs, endMs], grid: [first, count] }) => {
    expect(stepGrid({ startMs: startMs!, endMs: endMs! }, 60)).toEqual({ startMs: first, stepMs: 60, count })
  })

  test('has as many steps as that of any other window of the same whole length', () => {
    const counts = Array.from(
      { length: 60 },
      (_, shift) => stepGrid({ startMs: shift, endMs: shift + 600 }, 60).count,
    )
    expect(new Set(counts)).toEqual(new Set([10]))
  })

  test('comes in parts that follow each other', () => {
    const grid = { startMs: 0, stepMs: 10, count: 25 }
    const parts = splitGrid(grid, 10)
    expect(parts.map(({ startMs, count }) => [startMs, count])).toEqual([
      [0, 10],
      [100, 10],
      [200, 5],
    ])
    expect(parts.map(lastStepMs)).toEqual([90, 190, 240])
    expect(shortened(grid, 7).count).toBe(7)
  })
})

describe('a time on the grid', () => {
  const grid = { startMs: 1000, stepMs: 100, count: 3 }

  test('stands at a step when it is within a millisecond of it', () => {
    expect([1001, 1000, 1099, 1150, 1200, 1300].map((ms) => stepAt(grid, ms))).toEqual([
      0,
      0,
      1,
      undefined,
      2,
      undefined,
    ])
  })

  test('belongs to the step that it follows', () => {
    expect([999, 1000, 1099, 1299, 1300].map((ms) => stepAround(grid, ms))).toEqual([
      undefined,
      0,
      0,
      2,
      undefined,
    ])
    expect(stepAround(grid, NaN)).toBeUndefined()
  })
})
