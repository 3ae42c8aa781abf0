import { afterEach, describe, expect, test } from 'vitest'

import { cancelRun, findRun } from '../../../src/analysis/runs/analysis-operations.js'
import { AnalysisRunner } from '../../../src/analysis/runs/analysis-runner.js'
import type { IntervalRequest, IntervalResult } from '../../../src/analysis/runs/analysis-runner.js'
import { packInterval } from '../../../src/analysis/runs/intervals/pack-interval.js'
import { failedInterval } from '../../../src/analysis/runs/failed-interval.js'
import { AppError } from '../../../src/errors/app-error.js'
import { MINUTE_MS, START_MS, makeIntervalReport, makeRunPlan, storeRun } from '../../support/analyses.js'
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

/**
 * A runner whose intervals of `hanging` never end by themselves. All intervals are due after ten
 * minutes.
 */
function makeRunner(store: TestStore, concurrentIntervals: number, together = 1) {
  const clock = makeManualClock(START_MS)
  const [begun, judged, failures]: [string[], string[], string[]] = [[], [], []]
  let [underWay, most] = [0, 0]
  const evaluateInterval = async (
    request: IntervalRequest,
    givenUp: AbortSignal,
  ): Promise<IntervalResult> => {
    begun.push(`${request.runId}: ${request.interval}`)
    most = Math.max(most, (underWay += 1))
    try {
      if (request.plan.application === 'hanging') await untilGivenUp(givenUp)
      await waitUntil(
        () => (begun.length >= together ? true : undefined),
        () => 'too few intervals are begun',
      )
      // The others get their turn, as they do while a thread works.
      await store.reader.run(findRun, request.runId)
    } finally {
      underWay -= 1
    }
    return {
      report: makeIntervalReport({ look: request.interval }),
      ...packInterval({ look: request.interval, targets: [], seenLogTemplates: [] }),
      logTemplates: [],
    }
  }
  const runner = new AnalysisRunner({
    ...{
      writer: store.writer,
      reader: store.reader,
      leases: store.leases,
      concurrentIntervals,
      evaluateInterval,
      failedInterval,
    },
    ...{ now: clock.now, setTimer: clock.setTimer },
    hasEndedThread: () => false,
    notifications: () => [],
    notified: () => undefined,
    judged: ({ id }, { look: interval }) => judged.push(`${id}: ${interval}`),
    failed: ({ message }) => failures.push(message),
  })
  runners.push(runner)
  return { runner, clock, begun, judged, failures, mostAtATime: () => most }
}

function untilGivenUp(givenUp: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    givenUp.addEventListener('abort', () => reject(new AppError('unavailable', 'the interval was given up')))
  })
}

function storeRuns(store: TestStore, applications: readonly string[]): Promise<number[]> {
  return Promise.all(applications.map((application) => storeRun(store.writer, makeRunPlan({ application }))))
}

function untilJudged({ judged }: ReturnType<typeof makeRunner>, count: number) {
  return waitUntil(
    () => (judged.length >= count ? judged : undefined),
    () => `only ${judged.length} intervals ended`,
  )
}

describe('intervals of several runs', () => {
  test('are not held up by a source that hangs for another application, however many runs that has', async () => {
    const store = await openStore()
    const ids = await storeRuns(store, [...Array<string>(6).fill('hanging'), 'shop', 'cart'])
    const made = makeRunner(store, 4)
    await made.runner.start()
    for (const interval of [1, 2, 3]) {
      made.clock.moveTo(START_MS + interval * TEN_MINUTES)
      await untilJudged(made, 2 * interval)
    }
    const [shop = 0, cart = 0] = ids.slice(6)
    expect(made.judged.toSorted()).toEqual(
      [1, 2, 3].flatMap((interval) => [`${shop}: ${interval}`, `${cart}: ${interval}`]).toSorted(),
    )
    expect(made.begun.filter((interval) => interval.endsWith(': 1'))).toHaveLength(4)
  })

  test('are so many at a time and no more, and all come about', async () => {
    const store = await openStore()
    await storeRuns(store, ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'])
    const made = makeRunner(store, 3, 3)
    await made.runner.start()
    made.clock.moveTo(START_MS + TEN_MINUTES)
    await untilJudged(made, 9)
    expect(made.mostAtATime()).toBe(3)
    expect(made.failures).toEqual([])
  })

  test('of one run stay in their order, one after another, when all are due at once', async () => {
    const store = await openStore()
    const [shop = 0, cart = 0] = await storeRuns(store, ['shop', 'cart'])
    const made = makeRunner(store, 4)
    made.clock.moveTo(START_MS + 3 * TEN_MINUTES)
    await made.runner.start()
    await untilJudged(made, 6)
    const of = (id: number) => made.judged.filter((interval) => interval.startsWith(`${id}: `))
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
      () => 'no interval is judged',
    )
    await store.writer.run(cancelRun, {
      id: hanging,
      actor: { nowMs: START_MS, user: 'ana', origin: 'test' },
    })
    made.runner.forget(hanging)
    await untilJudged(made, 1)
    expect(made.judged).toEqual([`${shop}: 1`])
    expect(await store.lookups.analysis.run(hanging)).toMatchObject({ state: 'CANCELLED', intervalsDone: 0 })
  })

  test('are all given up when the service stops, and none of them counts as failed', async () => {
    const store = await openStore()
    const ids = await storeRuns(store, ['hanging', 'hanging', 'shop'])
    const made = makeRunner(store, 4)
    await made.runner.start()
    made.clock.moveTo(START_MS + TEN_MINUTES)
    await untilJudged(made, 1)
    await made.runner.stop()
    expect([made.judged, made.failures]).toEqual([[`${ids[2]}: 1`], []])
    for (const id of ids.slice(0, 2)) {
      expect(await store.lookups.analysis.run(id)).toMatchObject({ state: 'RUNNING', intervalsDone: 0 })
    }
    expect(made.clock.nextMs()).toBeUndefined()
  })
})
