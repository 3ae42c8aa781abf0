import { setImmediate as nextTurn } from 'node:timers/promises'

import { expect, it } from 'vitest'

import { sharedRun } from '../../../src/lib/turns/shared-run.js'

const AT_ONCE = (): undefined => undefined

function countedRuns() {
  let runs = 0
  return sharedRun(() => Promise.resolve((runs += 1)))
}

it('is shared by callers before it starts, and starts again for later ones', async () => {
  const ask = countedRuns()
  expect(await Promise.all([ask(AT_ONCE), ask(AT_ONCE)])).toEqual([1, 1])
  expect(await ask(AT_ONCE)).toBe(2)
})

it('starts at the turn of the first caller and serves all callers until then', async () => {
  const ask = countedRuns()
  let begin: (() => void) | undefined
  const first = ask(() => new Promise((resolve) => (begin = resolve)))
  await nextTurn()
  await nextTurn()
  const second = ask(AT_ONCE)
  begin?.()
  expect(await Promise.all([first, second])).toEqual([1, 1])
})

it('also starts if the first caller is refused its turn', async () => {
  const ask = countedRuns()
  const asked = [ask(() => Promise.reject(new Error('too late'))), ask(AT_ONCE)]
  expect(await Promise.all(asked)).toEqual([1, 1])
})

it('is given to 64 at the most', async () => {
  const ask = countedRuns()
  const results = await Promise.all(Array.from({ length: 130 }, () => ask(AT_ONCE)))
  const shares = [1, 2, 3].map((run) => results.filter((result) => result === run).length)
  expect(shares).toEqual([64, 64, 2])
})

it('fails for all who share it, and is tried again for the next call', async () => {
  let runs = 0
  const ask = sharedRun(() => {
    runs += 1
    return runs === 1 ? Promise.reject(new Error('no figures')) : Promise.resolve(runs)
  })
  const asked = await Promise.allSettled([ask(AT_ONCE), ask(AT_ONCE)])
  expect(asked.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(await ask(AT_ONCE)).toBe(2)
})
