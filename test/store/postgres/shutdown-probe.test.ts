import type * as timers from 'node:timers/promises'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { ShutdownProbe } from '../../../src/store/postgres/engine/shutdown-probe.js'
import { PATIENT } from '../../support/wait-until.js'

/** Nothing listens there, which counts as an answer. */
const SETTINGS = { host: '127.0.0.1', port: 1, user: 'tidegate', database: 'tidegate' }
/** Node warns of more listeners than ten. */
const MANY = 20

let pauses = 0

vi.mock('node:timers/promises', async (importOriginal) => {
  const original = await importOriginal<typeof timers>()
  const setTimeout: typeof timers.setTimeout = (_, value, options) => {
    pauses += 1
    return original.setTimeout(0, value, options)
  }
  return { ...original, setTimeout }
})

const warned = vi.fn<(warning: Error) => void>()

beforeEach(() => {
  process.on('warning', warned)
})

afterEach(() => {
  process.off('warning', warned)
  warned.mockClear()
})

/** Warnings come a turn later. */
async function expectNoWarning(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
  expect(warned).not.toHaveBeenCalled()
}

test('as much may be under way at a time as is asked for', async () => {
  const atEnd = new ShutdownProbe(SETTINGS)
  const acts = Array.from({ length: MANY }, (_, index) => atEnd.unlessAbandoned(() => Promise.resolve(index)))
  expect(await Promise.all(acts)).toHaveLength(MANY)
  await expectNoWarning()
})

test('a database that answers is waited for, however often it is looked at', async () => {
  const atEnd = new ShutdownProbe(SETTINGS)
  const looking = atEnd.begin(() => false)
  await vi.waitFor(() => expect(pauses).toBeGreaterThan(MANY), PATIENT)
  atEnd.end()
  await looking
  expect(atEnd.abandoned.aborted).toBe(false)
  await expectNoWarning()
})
