import { setFlagsFromString } from 'node:v8'
import { expect, test, vi } from 'vitest'

import {
  letOptimizeForCommand,
  letOptimizeLate,
  optimizeAfterMany,
} from '../../../src/lib/threads/optimize.js'

vi.mock('node:v8', () => ({ setFlagsFromString: vi.fn() }))

const flags = (): string[] => vi.mocked(setFlagsFromString).mock.calls.map(([flag]) => flag)

test('V8 optimizes late until 500 requests have been answered, and as usual from then on', () => {
  letOptimizeLate(10)
  expect(flags()).toEqual(['--interrupt-budget=675840', '--opt'])

  for (let answered = 1; answered < 500; answered += 1) optimizeAfterMany()
  expect(flags()).toHaveLength(2)

  for (let answered = 500; answered < 2000; answered += 1) optimizeAfterMany()
  expect(flags().slice(2)).toEqual(['--interrupt-budget=67584'])
})

test('for a command V8 optimizes later still, modules too, and does not mark the heap beside the work', () => {
  vi.mocked(setFlagsFromString).mockClear()
  letOptimizeForCommand()
  expect(flags()).toEqual([
    '--interrupt-budget=1351680',
    '--opt',
    '--wasm-tiering-budget=36000000',
    '--no-incremental-marking',
  ])
})
