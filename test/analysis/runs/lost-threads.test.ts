import { describe, expect, test } from 'vitest'

import { AppError } from '../../../src/errors/app-error.js'
import { storeRun } from '../../support/analyses.js'
import { runToEnd, taken, useAnalysisRunners } from '../../support/analysis-runner.js'
import { useServiceStore } from '../../support/service-store.js'

const openStore = useServiceStore()
const makeRunner = useAnalysisRunners()

describe('an interval that ends its thread', () => {
  test('ends its run when the one before it did, too', async () => {
    const store = await openStore()
    const id = await storeRun(store.writer)
    const made = makeRunner(store, {
      evaluateInterval: () =>
        Promise.reject(new AppError('unavailable', 'out of memory', { code: 'thread_lost' })),
    })
    await made.runner.start()
    const run = await runToEnd(store, id, made)
    expect(made.requests.map(({ interval }) => interval)).toEqual([1, 2])
    expect(run).toMatchObject({ state: 'COMPLETED', verdict: 'Fail', score: 0 })
    expect(run.message).toMatch(/the thread of the interval ended 2 times while it was judged/)
  })

  test('does not end its run when an interval between the two went well', async () => {
    const store = await openStore()
    const id = await storeRun(store.writer)
    const made = makeRunner(store, {
      evaluateInterval: (request) =>
        request.interval === 2
          ? Promise.resolve(taken(request))
          : Promise.reject(new AppError('unavailable', 'out of memory', { code: 'thread_lost' })),
    })
    await made.runner.start()
    await runToEnd(store, id, made)
    expect(made.requests.map(({ interval }) => interval)).toEqual([1, 2, 3])
    expect(made.judged[1]).toBe(`${id}: 2 Success`)
  })
})
