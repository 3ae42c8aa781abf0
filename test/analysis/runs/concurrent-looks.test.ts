import { afterEach, describe, expect, test } from 'vitest'

import { cancelRun, findRun } from '../../../src/analysis/runs/analysis-operations.js'
import { AnalysisRunner } from '../../../src/analysis/runs/analysis-runner.js'
import type { LookRequest, LookResult } from '../../../src/analysis/runs/analysis-runner.js'
import { packLook } from '../../../src/analysis/runs/looks/pack-look.js'
import { failedLook } from '../../../src/analysis/runs/take-look.js'
import { AppError } from '../../../src/errors/app-error.js'
import { MINUTE_MS, START_MS, makeLookReport, makeRunPlan, storeRun } from '../../support/analyses.js'
import { makeManualClock } from '../../support/manual-clock.js'
import { useServiceStore } from '../../support/service-store.js'
import type { TestStore } from '../../support/service-store.js'
import { waitUntil } from '../../support/wait-until.js'

const TEN_MINUTES = 10 * MINUTE_MS

const openStore = useServiceStore()
const runners: AnalysisRunner[] = []
afterEach(async () => {
  for (const runner of runners.splice(0)) await runner.stop()
})

/** A runner whose looks at `hanging` never end by themselves; all is due after ten minutes. */
function makeRunner(store: TestStore, concurrentLooks: number, together = 1) {
  const clock = makeManualClock(START_MS)
  const [begun, looked, failures]: [string[], string[], string[]] = [[], [], []]
  let [underWay, most] = [0, 0]
  const takeLook = async (request: LookRequest, givenUp: AbortSignal): Promise<LookResult> => {
    begun.push(`${request.runId}: ${request.look}`)
    most = Math.max(most, (underWay += 1))
    try {
      if (request.plan.application === 'hanging') await untilGivenUp(givenUp)
      await waitUntil(
        () => (begun.length >= together ? true : undefined),
        () => 'too few looks are begun',
      )
      // The others get their turn, as they do while a thread works.
      await store.reader.run(findRun, request.runId)
    } finally {
      underWay -= 1
    }
    return {
      report: makeLookReport({ look: request.look }),
      ...packLook({ look: request.look, targets: [], seenLogTemplates: [] }),
      logTemplates: [],
    }
  }
  const runner = new AnalysisRunner({
    ...{ writer: store.writer, reader: store.reader, concurrentLooks, takeLook, failedLook },
    ...{ now: clock.now, setTimer: clock.setTimer },
    hasEndedThread: () => false,
    looked: ({ id }, { look }) => looked.push(`${id}: ${look}`),
    failed: ({ message }) => failures.push(message),
  })
  runners.push(runner)
  return { runner, clock, begun, looked, failures, mostAtATime: () => most }
}

function untilGivenUp(givenUp: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    givenUp.addEventListener('abort', () => reject(new AppError('unavailable', 'the look was given up')))
  })
}

function storeRuns(store: TestStore, applications: readonly string[]): Promise<number[]> {
  return Promise.all(applications.map((application) => storeRun(store.writer, makeRunPlan({ application }))))
}

function untilLooked({ looked }: ReturnType<typeof makeRunner>, count: number) {
  return waitUntil(
    () => (looked.length >= count ? looked : undefined),
    () => `only ${looked.length} looks ended`,
  )
}

describe('looks of several runs', () => {
  test('are not held up by a source that hangs for another application, however many runs that has', async () => {
    const store = await openStore()
    const ids = await storeRuns(store, [...Array<string>(6).fill('hanging'), 'shop', 'cart'])
    const made = makeRunner(store, 4)
    await made.runner.start()
    for (const look of [1, 2, 3]) {
      made.clock.moveTo(START_MS + look * TEN_MINUTES)
      await untilLooked(made, 2 * look)
    }
    const [shop = 0, cart = 0] = ids.slice(6)
    expect(made.looked.toSorted()).toEqual(
      [1, 2, 3].flatMap((look) => [`${shop}: ${look}`, `${cart}: ${look}`]).toSorted(),
    )
    expect(made.begun.filter((look) => look.endsWith(': 1'))).toHaveLength(4)
  })

  test('are so many at a time and no more, and all come about', async () => {
    const store = await openStore()
    await storeRuns(store, ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'])
    const made = makeRunner(store, 3, 3)
    await made.runner.start()
    made.clock.moveTo(START_MS + TEN_MINUTES)
    await untilLooked(made, 9)
    expect(made.mostAtATime()).toBe(3)
    expect(made.failures).toEqual([])
  })

  test('of one run stay in their order, one after another, when all are due at once', async () => {
    const store = await openStore()
    const [shop = 0, cart = 0] = await storeRuns(store, ['shop', 'cart'])
    const made = makeRunner(store, 4)
    made.clock.moveTo(START_MS + 3 * TEN_MINUTES)
    await made.runner.start()
    await untilLooked(made, 6)
    const of = (id: number) => made.looked.filter((look) => look.startsWith(`${id}: `))
    expect([of(shop), of(cart)]).toEqual([
      [1, 2, 3].map((n) => `${shop}: ${n}`),
      [1, 2, 3].map((n) => `${cart}: ${n}`),
    ])
    expect(made.mostAtATime()).toBeLessThanOrEqual(2)
  })

  test('of a run that is cancelled are given up at once, so that their room is free', async () => {
    const store = await openStore()
    const [hanging = 0, shop = 0] = await storeRuns(store, ['hanging', 'shop'])
    const made = makeRunner(store, 1)
    await made.runner.start()
    made.clock.moveTo(START_MS + TEN_MINUTES - 1)
    made.runner.schedule({ id: hanging, application: 'hanging', dueMs: START_MS })
    made.clock.moveTo(START_MS + TEN_MINUTES)
    await waitUntil(
      () => made.begun[0],
      () => 'no look is taken',
    )
    await store.writer.run(cancelRun, {
      id: hanging,
      actor: { nowMs: START_MS, user: 'ana', origin: 'test' },
    })
    made.runner.forget(hanging)
    await untilLooked(made, 1)
    expect(made.looked).toEqual([`${shop}: 1`])
    expect(await store.lookups.analysis.run(hanging)).toMatchObject({ state: 'CANCELLED', looksDone: 0 })
  })

  test('are all given up when the service stops, and none of them counts as failed', async () => {
    const store = await openStore()
    const ids = await storeRuns(store, ['hanging', 'hanging', 'shop'])
    const made = makeRunner(store, 4)
    await made.runner.start()
    made.clock.moveTo(START_MS + TEN_MINUTES)
    await untilLooked(made, 1)
    await made.runner.stop()
    expect([made.looked, made.failures]).toEqual([[`${ids[2]}: 1`], []])
    for (const id of ids.slice(0, 2)) {
      expect(await store.lookups.analysis.run(id)).toMatchObject({ state: 'RUNNING', looksDone: 0 })
    }
    expect(made.clock.nextMs()).toBeUndefined()
  })
})
