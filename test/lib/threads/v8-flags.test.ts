import { setFlagsFromString } from 'node:v8'
import { afterEach, expect, test, vi } from 'vitest'

import { keepFlag, usualOf, useUsualFlags } from '../../../src/lib/threads/v8-flags.js'

vi.mock('node:v8', () => ({ setFlagsFromString: vi.fn() }))

const flags = (): string[] => vi.mocked(setFlagsFromString).mock.calls.map(([flag]) => flag)

afterEach(() => {
  vi.clearAllMocks()
})

test('flags are as usual while somebody needs them so, and as they were kept when nobody does any more', () => {
  keepFlag('opt', false)
  keepFlag('heap-growing-percent', 200)
  expect(flags()).toEqual(['--no-opt', '--heap-growing-percent=200'])

  const first = useUsualFlags()
  const second = useUsualFlags()
  expect(flags().slice(2)).toEqual(['--opt', '--heap-growing-percent=0'])

  first()
  first()
  expect(flags(), 'the second still needs them').toHaveLength(4)

  second()
  expect(flags().slice(4)).toEqual(['--no-opt', '--heap-growing-percent=200'])
})

test('what is kept meanwhile is set afterwards', () => {
  const release = useUsualFlags()
  vi.clearAllMocks()
  keepFlag('interrupt-budget', 10 * usualOf('interrupt-budget'))
  expect(flags()).toEqual([])

  release()
  expect(flags()).toContain('--interrupt-budget=675840')
})
