import { afterEach } from 'vitest'

import { AnalysisRunner } from '../../src/analysis/runs/analysis-runner.js'
import type {
  AnalysisRunnerOptions,
  IntervalRequest,
  IntervalResult,
} from '../../src/analysis/runs/analysis-runner.js'
import { packInterval } from '../../src/analysis/runs/intervals/pack-interval.js'
import { failedInterval } from '../../src/analysis/runs/failed-interval.js'
import { hasErrorCode } from '../../src/errors/app-error.js'
import type { StoredRun } from '../../src/store/ports/analysis-store.js'
import { MINUTE_MS, START_MS, makeIntervalReport } from './analyses.js'
import { makeManualClock } from './manual-clock.js'
import type { ManualClock } from './manual-clock.js'
import type { TestStore } from './service-store.js'
import { waitUntil } from './wait-until.js'

/** Of the runs that `makeRunPlan` plans. */
const INTERVAL_MS = 10 * MINUTE_MS

/** The judgement of an interval that went well. */
export function taken(
  { interval, plan }: IntervalRequest,
  more: Partial<IntervalResult['report']> = {},
): IntervalResult {
  const intervals = plan.timing.lifetimeMs / plan.timing.intervalMs
  return {
    report: makeIntervalReport({ look: interval, looks: intervals, ...more }),
    ...packInterval({ look: interval, targets: [], seenLogTemplates: [] }),
    logTemplates: [`template ${interval}`],
  }
}

export interface TestRunner {
  readonly runner: AnalysisRunner
  readonly clock: ManualClock
  /** The requested intervals, the stored ones, and errors of the store. */
  readonly requests: readonly IntervalRequest[]
  readonly judged: readonly string[]
  readonly failures: readonly string[]
}

/** Returns a function that creates runners with a manual clock. Each is stopped after its test. */
export function useAnalysisRunners(): (
  store: TestStore,
  more?: Partial<AnalysisRunnerOptions>,
) => TestRunner {
  const runners: AnalysisRunner[] = []
  afterEach(async () => {
    for (const runner of runners.splice(0)) await runner.stop()
  })
  return (store, more = {}) => {
    const clock = makeManualClock(START_MS)
    const requests: IntervalRequest[] = []
    const judged: string[] = []
    const failures: string[] = []
    const runner = new AnalysisRunner({
      writer: store.writer,
      reader: store.reader,
      leases: store.leases,
      concurrentIntervals: 4,
      hasEndedThread: (error) => hasErrorCode(error, 'thread_lost'),
      failedInterval,
      now: clock.now,
      setTimer: clock.setTimer,
      judged: ({ id }, { look: interval, verdict }) => judged.push(`${id}: ${interval} ${verdict}`),
      notifications: () => [],
      notified: () => undefined,
      failed: ({ message }) => failures.push(message),
      ...more,
      evaluateInterval: (request, givenUp) => {
        requests.push(request)
        return more.evaluateInterval?.(request, givenUp) ?? Promise.resolve(taken(request))
      },
    })
    runners.push(runner)
    return { clock, requests, judged, failures, runner }
  }
}

/** The run once it is as `isReached` wants it. */
export function runWhen(
  { lookups }: TestStore,
  id: number,
  isReached: (intervalsDone: number, state: string) => boolean,
): Promise<StoredRun> {
  return waitUntil(
    async () => {
      const run = await lookups.analysis.run(id)
      return run !== undefined && isReached(run.intervalsDone, run.state) ? run : undefined
    },
    () => `run ${id} does not get there`,
  )
}

/** Moves the clock from interval to interval until the run has ended. */
export async function runToEnd(store: TestStore, id: number, { clock }: TestRunner): Promise<StoredRun> {
  const { intervals } = await runWhen(store, id, () => true)
  for (let interval = 1; interval <= intervals; interval++) {
    clock.moveTo(START_MS + interval * INTERVAL_MS)
    const { state } = await runWhen(store, id, (intervalsDone) => intervalsDone >= interval)
    if (state !== 'RUNNING') break
  }
  return await runWhen(store, id, (_, state) => state !== 'RUNNING')
}
