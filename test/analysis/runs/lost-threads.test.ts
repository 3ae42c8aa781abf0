import { describe, expect, test } from 'vitest'

import { AppError } from '../../../src/errors/app-error.js'
import { storeRun } from '../../support/analyses.js'
import { runToEnd, taken, useAnalysisRunners } from '../../support/analysis-runner.js'
import { useServiceStore } from '../../support/service-store.js'

const openStore = useServiceStore()
const makeRunner = useAnalysisRunners()

describe('a look that ends its thread', () => {
  test('ends its run when the one before it did, too', async () => {
    const store = await openStore()
    const id = await storeRun(store.writer)
    const made = makeRunner(store, {
      takeLook: () => Promise.reject(new AppError('unavailable', 'out of memory', { code: 'thread_lost' })),
    })
    await made.runner.start()
    const run = await runToEnd(store, id, made)
    expect(made.requests.map(({ look }) => look)).toEqual([1, 2])
    expect(run).toMatchObject({ state: 'COMPLETED', verdict: 'Fail', score: 0 })
    expect(run.message).toMatch(/the look's thread ended 2 times while it was taken/)
  })

  test('does not end its run when a look between the two went well', async () => {
    const store = await openStore()
    const id = await storeRun(store.writer)
    const made = makeRunner(store, {
      takeLook: (request) =>
        request.look === 2
          ? Promise.resolve(taken(request))
          : Promise.reject(new AppError('unavailable', 'out of memory', { code: 'thread_lost' })),
    })
    await made.runner.start()
    await runToEnd(store, id, made)
    expect(made.requests.map(({ look }) => look)).toEqual([1, 2, 3])
    expect(made.looked[1]).toBe(`${id}: 2 Success`)
  })
})
