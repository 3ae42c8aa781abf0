import { expect, test } from 'vitest'

import { LimitedTurns } from '../../../src/lib/turns/limited-turns.js'

const NEVER = new AbortController().signal

/** Works that end when they are told to. */
function makeTurns(running: number, waiting: number) {
  const turns = new LimitedTurns({ running, waiting }, () => new Error('crowded'))
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const run = (name: string, signal = NEVER): Promise<string> =>
    turns.run(async () => {
      begun.push(name)
      await new Promise<void>((resolve) => ends.set(name, resolve))
      return name
    }, signal)
  return { turns, begun, run, end: (name: string) => ends.get(name)?.() }
}

test('so many go on at a time, the others in the order in which they came', async () => {
  const { turns, begun, run, end } = makeTurns(2, 2)
  const works = ['a', 'b', 'c', 'd'].map((name) => run(name))
  expect(begun).toEqual(['a', 'b'])
  expect(turns.waiting).toBe(2)
  end('b')
  expect(await works[1]).toBe('b')
  expect(begun).toEqual(['a', 'b', 'c'])
  end('a')
  await works[0]
  end('c')
  end('d')
  expect(await Promise.all(works)).toEqual(['a', 'b', 'c', 'd'])
  expect(turns.waiting).toBe(0)
})

test('who finds no room in the line is told so at once', async () => {
  const { run, end } = makeTurns(1, 0)
  const first = run('a')
  await expect(run('b')).rejects.toThrow('crowded')
  end('a')
  expect(await first).toBe('a')
})

test('who gives up waiting leaves the line, and the turn to the next', async () => {
  const { begun, run, end } = makeTurns(1, 2)
  const patience = new AbortController()
  const first = run('a')
  const impatient = run('b', patience.signal)
  const third = run('c')
  patience.abort()
  await expect(impatient).rejects.toThrow('crowded')
  end('a')
  await first
  expect(begun).toEqual(['a', 'c'])
  end('c')
  await third
})

test('a turn that fails is over, too', async () => {
  const { turns, run, end } = makeTurns(1, 1)
  await expect(turns.run(() => Promise.reject(new Error('broken')), NEVER)).rejects.toThrow('broken')
  const next = run('a')
  end('a')
  expect(await next).toBe('a')
})
