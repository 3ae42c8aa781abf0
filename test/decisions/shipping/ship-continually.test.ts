import { renameSync } from 'node:fs'
import { expect, it, onTestFinished } from 'vitest'

import { ContinualShipping } from '../../../src/decisions/shipping/ship-continually.js'
import { AppError } from '../../../src/errors/app-error.js'
import type { ShippingMetrics } from '../../../src/store/ports/decision-shipping.js'
import type { StoredDecision } from '../../../src/store/ports/decision-store.js'
import { openShippedLog } from '../../../src/store/sqlite/decisions/shipped-log.js'
import { aBatch, anEntry, openStore } from '../../support/decisions.js'

/** The shipping of a file to a place that can be away. */
async function startShipping() {
  const { path, writer } = await openStore()
  const kept: string[] = []
  const told: ShippingMetrics[] = []
  let isAway = false
  const shipping = new ContinualShipping({
    openLog: () => openShippedLog(path),
    receiver: {
      keep: (decisions: readonly StoredDecision[]) => {
        if (isAway) return Promise.reject(new AppError('unavailable', 'it is away'))
        kept.push(...decisions.map(({ decisionId }) => decisionId))
        return Promise.resolve()
      },
      close: () => Promise.resolve(),
    },
    roundEnded: (metrics) => told.push(metrics),
  })
  onTestFinished(() => shipping.close())
  const setAway = (value: boolean): void => {
    isAway = value
  }
  const last = (): ShippingMetrics | undefined => told.at(-1)
  return { path, writer, shipping, kept, last, setAway }
}
const decisions = (...ids: readonly string[]) => aBatch(ids.map((decisionId) => anEntry({ decisionId })))

it('tells what waits and why, and goes on when it can', async () => {
  const { writer, shipping, kept, last, setAway } = await startShipping()
  setAway(true)
  writer.insert(decisions('a', 'b'))
  await shipping.catchUp()
  expect(last()).toEqual({ shipped: 0, waiting: 2, missing: 0, problem: 'it is away' })
  setAway(false)
  await shipping.catchUp()
  expect(last()).toEqual({ shipped: 2, waiting: 0, missing: 0, problem: undefined })
  expect(kept).toEqual(['a', 'b'])
})

it('ships what was there when it was asked to, though a round was under way', async () => {
  const { writer, shipping, kept } = await startShipping()
  writer.insert(decisions('a'))
  const first = shipping.catchUp()
  writer.insert(decisions('b'))
  await Promise.all([shipping.catchUp(), shipping.catchUp()])
  await first
  expect(kept).toEqual(['a', 'b'])
})

it('goes over to the file that was begun in place of a lost one', async () => {
  const { path, writer, shipping, kept, last } = await startShipping()
  writer.insert(decisions('a', 'b', 'c'))
  await shipping.catchUp()
  for (const end of ['', '-wal', '-shm']) renameSync(`${path}${end}`, `${path}.lost${end}`)
  await shipping.catchUp()
  expect(last()?.problem).toContain('not at its path')
  const { writer: another } = await openStore({ path })
  another.insert(decisions('d'))
  await shipping.catchUp()
  await shipping.catchUp()
  expect(kept).toEqual(['a', 'b', 'c', 'd'])
  expect(last()).toEqual({ shipped: 4, waiting: 0, missing: 0, problem: undefined })
})
