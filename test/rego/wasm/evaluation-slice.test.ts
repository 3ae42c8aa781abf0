import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import { EvaluationSlice, SliceOver } from '../../../src/rego/wasm/evaluation-budget.js'

const LENGTH_MS = 15

describe('the slice of an evaluation', () => {
  let onCoreMs = 0
  const begun = (): EvaluationSlice => {
    const slice = new EvaluationSlice(LENGTH_MS, () => onCoreMs)
    slice.require()
    return slice
  }
  const pass = (ms: number, worked: number): void => {
    vi.advanceTimersByTime(ms)
    onCoreMs += worked
  }

  beforeEach(() => {
    onCoreMs = 100
    vi.useFakeTimers({ toFake: ['performance'] })
    vi.advanceTimersByTime(1000)
  })
  afterEach(() => void vi.useRealTimers())

  it('ends when its time is used up', () => {
    const slice = begun()
    pass(14, 14)
    slice.require()
    pass(1, 1)
    expect(() => slice.require()).toThrow(SliceOver)
    expect(slice.spentMs).toBe(LENGTH_MS)
  })

  it('does not count time off the CPU', () => {
    const slice = begun()
    pass(400, 1)
    slice.require()
    pass(13, 13)
    slice.require()
    expect(slice.spentMs).toBe(14)
    pass(1, 1)
    expect(() => slice.require()).toThrow(SliceOver)
  })

  it('ends before work that exceeds it', () => {
    const slice = begun()
    pass(10, 2)
    slice.require(4)
    expect(() => slice.require(13.5)).toThrow(SliceOver)
  })

  it('reports no time spent if the first work is already too much', () => {
    const spent = Array.from({ length: 1000 }, () => {
      vi.advanceTimersByTime(0.123_457)
      const slice = new EvaluationSlice(LENGTH_MS / 7, () => onCoreMs)
      expect(() => slice.require(1000)).toThrow(SliceOver)
      return slice.spentMs
    })
    expect(spent).toEqual(spent.map(() => 0))
  })

  it('ends immediately without a duration', () => {
    expect(() => new EvaluationSlice(0, () => onCoreMs).require()).toThrow(SliceOver)
  })
})
