import { describe, expect, it } from 'vitest'

import { SliceAllowance } from '../../../src/rego/slow/slow-paths.js'
import { SlowPaths } from '../../../src/rego/slow/slow-paths.js'

describe('the allowance for slices', () => {
  it('keeps what is lost to about a tenth of the time, and every slice at a millisecond at least', () => {
    const allowance = new SliceAllowance(15)
    let lostMs = 0
    const endMs = 1_000_000 + 20_000
    for (let nowMs = 1_000_000; nowMs < endMs; nowMs += 20) {
      const sliceMs = allowance.lengthMs(nowMs)
      expect(sliceMs).toBeGreaterThanOrEqual(1)
      allowance.lose(sliceMs, nowMs)
      lostMs += sliceMs
    }
    expect(lostMs / 20_000).toBeLessThan(0.12)
  })

  it('gives slices their full length again after a while', () => {
    const allowance = new SliceAllowance(15)
    for (let count = 0; count < 20; count++) allowance.lose(15, 1000)
    expect(allowance.lengthMs(1001)).toBe(1)
    expect(allowance.isFull(1001)).toBe(false)
    expect(allowance.lengthMs(10_000)).toBe(15)
    expect(allowance.isFull(10_000)).toBe(true)
  })
})

describe('the allowance, when the clock is set back,', () => {
  it('gives slices their full length again after a while', () => {
    const allowance = new SliceAllowance(15)
    for (let count = 0; count < 20; count++) allowance.lose(15, 90_000_000)
    expect(allowance.lengthMs(1000)).toBe(1)
    expect(allowance.lengthMs(10_000)).toBe(15)
  })
})

describe('the paths known to be slow', () => {
  it('are not tried once nearly all of the last evaluations overran, but now and then', () => {
    const paths = new SlowPaths()
    for (let count = 0; count < 6; count++) paths.overran('a')
    expect(paths.find('a')?.isWorthTrying()).toBe(true)
    paths.overran('a')
    const tries = Array.from({ length: 160 }, () => paths.find('a')?.isWorthTrying())
    expect(tries.filter(Boolean)).toHaveLength(10)
  })

  it('are tried again as soon as two of them ended in time, and forgotten after some more', () => {
    const paths = new SlowPaths()
    for (let count = 0; count < 8; count++) paths.overran('a')
    paths.ended('a')
    expect(paths.find('a')?.isWorthTrying()).toBe(false)
    paths.ended('a')
    expect(paths.find('a')?.isWorthTrying()).toBe(true)
    for (let count = 0; count < 6; count++) paths.ended('a')
    expect(paths.isEmpty).toBe(true)
  })

  it('take a bounded memory', () => {
    const paths = new SlowPaths()
    for (let id = 0; id < 3000; id++) paths.overran(`path ${id}`)
    expect(paths.find('path 0')).toBeUndefined()
    expect(paths.find('path 2999')).toBeDefined()
  })
})
