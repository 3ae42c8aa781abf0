import { describe, expect, test } from 'vitest'

import { showLookReport } from '../../../src/analysis/runs/show-run.js'
import { MINUTE_MS, START_MS, makeRunPlan, makeTiming, storeRun } from '../../support/analyses.js'
import { runToEnd, runWhen, taken, useAnalysisRunners } from '../../support/analysis-runner.js'
import { useServiceStore } from '../../support/service-store.js'

const TEN_MINUTES = 10 * MINUTE_MS

const openStore = useServiceStore()
const makeRunner = useAnalysisRunners()

describe('a run', () => {
  test('whose looks take longer than its interval ends soon after its lifetime all the same', async () => {
    const store = await openStore()
    const id = await storeRun(store.writer)
    const made = makeRunner(store, {
      takeLook: (request) => {
        if (request.look === 1) made.clock.moveTo(START_MS + 36 * MINUTE_MS)
        return Promise.resolve(taken(request))
      },
    })
    await made.runner.start()
    made.clock.moveTo(START_MS + TEN_MINUTES)
    const run = await runWhen(store, id, (_, state) => state !== 'RUNNING')
    expect(made.requests.map(({ look, after }) => [look, after])).toEqual([
      [1, 0],
      [3, 1],
    ])
    await expect(store.reader.run(showLookReport, { id, look: 2 })).rejects.toMatchObject({
      message: `analysis ${id} has no look 2: the run was late and left it out`,
    })
    expect(run).toMatchObject({ looksDone: 3, message: expect.stringContaining('left out') as unknown })
  })

  test.each([
    ['set back', -600],
    ['set forward', 600],
  ])('goes on when the clock is %s: it ends once, with all its looks in order', async (_, minutes) => {
    const store = await openStore()
    const id = await storeRun(store.writer, makeRunPlan({ timing: makeTiming({ lookBackMs: TEN_MINUTES }) }))
    const made = makeRunner(store)
    await made.runner.start()
    made.clock.moveTo(START_MS + TEN_MINUTES)
    await runWhen(store, id, (looksDone) => looksDone === 1)
    made.clock.moveTo(START_MS + TEN_MINUTES + minutes * MINUTE_MS)
    const run = await runToEnd(store, id, made)
    expect(run).toMatchObject({ state: 'COMPLETED', looksDone: 3 })
    expect(made.looked).toEqual([1, 2, 3].map((look) => `${id}: ${look} Success`))
  })
})
