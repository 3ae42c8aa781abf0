import { describe, expect, it, vi } from 'vitest'
import { makeLazyFamily } from '../../../../src/rego/builtins/index.js'
import { generousMeter } from '../../../support/generous-meter.js'

const CONTEXT = { nowNs: 0n, memo: new Map(), meter: generousMeter() }

describe('built-ins that are loaded when they are needed', () => {
  it('are loaded once, and only for policies that call one of them', async () => {
    const load = vi.fn(() => Promise.resolve({ 'family.one': () => 'one' }))
    const { table, prepare } = makeLazyFamily(['family.one'], load)
    await prepare(['other.one', 'concat'])
    expect(load).not.toHaveBeenCalled()
    await Promise.all([prepare(['family.one']), prepare(['concat', 'family.one'])])
    expect(load).toHaveBeenCalledTimes(1)
    expect(table['family.one']?.([], CONTEXT)).toBe('one')
  })

  it('throw if they are called before', () => {
    const { table } = makeLazyFamily(['family.one'], () => Promise.resolve({}))
    expect(() => table['family.one']?.([], CONTEXT)).toThrow('family.one is called before it was loaded')
  })
})
