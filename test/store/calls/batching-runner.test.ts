import { describe, expect, it } from 'vitest'
import { BatchingRunner, MAX_WAITING } from '../../../src/store/calls/batching-runner.js'
import type { Call } from '../../../src/store/calls/call.js'

const MB = 1024 * 1024
const operation = { name: 'test.keep', apply: () => Promise.resolve() }
const yielding = { name: 'test.tidy', isBackground: true, apply: () => Promise.resolve() }

function makeRunner(): { runner: BatchingRunner; batches: number[] } {
  const batches: number[] = []
  const execute = (calls: readonly Call[]) => {
    // Copied like messages to a thread, so values that cannot be copied throw.
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

  it('are refused at once when too many wait, and taken again when these are through', async () => {
    const { runner } = makeRunner()
    const waiting = Array.from({ length: MAX_WAITING }, () => runner.run(operation, 'small'))
    await expect(runner.run(operation, 'one more')).rejects.toMatchObject({ kind: 'unavailable' })
    await Promise.all(waiting)
    await expect(runner.run(operation, 'later')).resolves.toBeUndefined()
  })

  it('are refused at once when they hold too much', async () => {
    const { runner } = makeRunner()
    const large = { data: new Uint8Array(100 * MB) }
    const waiting = [1, 2].map(() => runner.run(operation, large))
    await expect(runner.run(operation, large)).rejects.toMatchObject({ kind: 'unavailable' })
    await Promise.all(waiting)
    await expect(runner.run(operation, large)).resolves.toBeUndefined()
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

describe('calls that nobody waits for', () => {
  function makeNamingRunner(): { runner: BatchingRunner; batches: string[] } {
    const batches: string[] = []
    const execute = (calls: readonly Call[]) => {
      batches.push(calls.map(({ args }) => String(args)).join(' '))
      return Promise.resolve(calls.map(() => ({ ok: true, result: undefined }) as const))
    }
    return { runner: new BatchingRunner(execute, 1024), batches }
  }

  it('go after the others, one at a time', async () => {
    const { runner, batches } = makeNamingRunner()
    const tidied = [runner.run(yielding, 'tidy 1'), runner.run(yielding, 'tidy 2')]
    const kept = [runner.run(operation, 'a'), runner.run(operation, 'b')]
    await Promise.all([...tidied, ...kept])
    expect(batches).toEqual(['a b', 'tidy 1', 'tidy 2'])
  })

  it('hold up whoever comes meanwhile by one of them', async () => {
    const { runner, batches } = makeNamingRunner()
    const tidied = [1, 2, 3].map((count) => runner.run(yielding, `tidy ${count}`))
    await Promise.resolve()
    await Promise.all([runner.run(operation, 'a'), ...tidied])
    expect(batches).toEqual(['tidy 1', 'a', 'tidy 2', 'tidy 3'])
  })

  it('have their turn where others wait all the time', async () => {
    const { runner, batches } = makeNamingRunner()
    let isTidied = false
    const keepOn = async (): Promise<void> => {
      while (!isTidied) await runner.run(operation, 'a')
    }
    const keeping = [keepOn(), keepOn()]
    await runner.run(yielding, 'tidy')
    isTidied = true
    await Promise.all(keeping)
    expect(batches.indexOf('tidy')).toBe(1)
  })
})
