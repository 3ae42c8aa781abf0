import { describe, expect, it } from 'vitest'
import { BatchingRunner } from '../../../src/store/calls/batching-runner.js'
import type { Call } from '../../../src/store/calls/call.js'

const MB = 1024 * 1024
const operation = { name: 'test.keep', apply: () => Promise.resolve() }

function makeRunner(): { runner: BatchingRunner; batches: number[] } {
  const batches: number[] = []
  const execute = (calls: readonly Call[]) => {
    // As they cross to a thread: what cannot be copied raises.
    batches.push(structuredClone(calls).length)
    return Promise.resolve(calls.map(() => ({ ok: true, result: undefined }) as const))
  }
  return { runner: new BatchingRunner(execute, 1024), batches }
}

describe('calls that wait for the store', () => {
  it('go together, as far as they are small', async () => {
    const { runner, batches } = makeRunner()
    await Promise.all(Array.from({ length: 1500 }, () => runner.run(operation, 'small')))
    expect(batches).toEqual([1024, 476])
  })

  it('go one after another when they are large', async () => {
    const { runner, batches } = makeRunner()
    const large = 'x'.repeat(7 * MB)
    await Promise.all([1, 2, 3, 4, 5].map(() => runner.run(operation, { large })))
    expect(batches).toEqual([2, 2, 1])
  })

  it.each<readonly [string, unknown]>([
    ['text', { rows: ['x'.repeat(25 * MB)] }],
    ['many values', Array.from({ length: 2_000_000 }, () => 1)],
    ['bytes', { data: new Uint8Array(257 * MB) }],
  ])('are refused when a thread could not hold them: %s', async (_, args) => {
    const { runner, batches } = makeRunner()
    await expect(runner.run(operation, args)).rejects.toMatchObject({ kind: 'too_large' })
    expect(batches).toEqual([])
  })
})
