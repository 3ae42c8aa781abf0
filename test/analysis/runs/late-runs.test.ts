import { describe, expect, test } from 'vitest'

import { showIntervalReport } from '../../../src/analysis/runs/show-run.js'
import { MINUTE_MS, START_MS, makeRunPlan, makeTiming, storeRun } from '../../support/analyses.js'
import { runToEnd, runWhen, taken, useAnalysisRunners } from '../../support/analysis-runner.js'
import { useServiceStore } from '../../support/service-store.js'

const TEN_MINUTES = 10 * MINUTE_MS

const openStore = useServiceStore()
const makeRunner = useAnalysisRunners()

describe('a run', () => {
  test('whose judgements take longer than its interval ends soon after its lifetime all the same', async () => {
    const store = await openStore()
    const id = await storeRun(store.writer)
    const made = makeRunner(store, {
      evaluateInterval: (request) => {
        if (request.interval === 1) made.clock.moveTo(START_MS + 36 * MINUTE_MS)
        return Promise.resolve(taken(request))
      },
    })
    await made.runner.start()
    made.clock.moveTo(START_MS + TEN_MINUTES)
    const run = await runWhen(store, id, (_, state) => state !== 'RUNNING')
    expect(made.requests.map(({ interval, after }) => [interval, after])).toEqual([
      [1, 0],
      [3, 1],
    ])
    await expect(store.reader.run(showIntervalReport, { id, interval: 2 })).rejects.toMatchObject({
      message: `analysis ${id} has no interval 2: it was skipped because the run was late`,
    })
    expect(run).toMatchObject({
      intervalsDone: 3,
      message: expect.stringContaining('intervals skipped') as unknown,
    })
  })

  test.each([
    ['set back', -600],
    ['set forward', 600],
  ])('goes on when the clock is %s: it ends once, with all its intervals in order', async (_, minutes) => {
    const store = await openStore()
    const id = await storeRun(store.writer, makeRunPlan({ timing: makeTiming({ lookBackMs: TEN_MINUTES }) }))
    const made = makeRunner(store)
    await made.runner.start()
    made.clock.moveTo(START_MS + TEN_MINUTES)
    await runWhen(store, id, (intervalsDone) => intervalsDone === 1)
    made.clock.moveTo(START_MS + TEN_MINUTES + minutes * MINUTE_MS)
    const run = await runToEnd(store, id, made)
    expect(run).toMatchObject({ state: 'COMPLETED', intervalsDone: 3 })
    expect(made.judged).toEqual([1, 2, 3].map((interval) => `${id}: ${interval} Success`))
  })
})
