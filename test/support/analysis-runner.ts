import { afterEach } from 'vitest'

import { AnalysisRunner } from '../../src/analysis/runs/analysis-runner.js'
import type {
  AnalysisRunnerOptions,
  LookRequest,
  LookResult,
} from '../../src/analysis/runs/analysis-runner.js'
import { packLook } from '../../src/analysis/runs/looks/pack-look.js'
import { failedLook } from '../../src/analysis/runs/take-look.js'
import { hasErrorCode } from '../../src/errors/app-error.js'
import type { StoredRun } from '../../src/store/ports/analysis-store.js'
import { MINUTE_MS, START_MS, makeLookReport } from './analyses.js'
import { makeManualClock } from './manual-clock.js'
import type { ManualClock } from './manual-clock.js'
import type { TestStore } from './service-store.js'
import { waitUntil } from './wait-until.js'

/** Of the runs that `makeRunPlan` plans. */
const INTERVAL_MS = 10 * MINUTE_MS

/** What a look gives that went well. */
export function taken({ look, plan }: LookRequest, more: Partial<LookResult['report']> = {}): LookResult {
  const looks = plan.timing.lifetimeMs / plan.timing.intervalMs
  return {
    report: makeLookReport({ look, looks, ...more }),
    ...packLook({ look, targets: [], seenLogTemplates: [] }),
    logTemplates: [`template ${look}`],
  }
}

export interface TestRunner {
  readonly runner: AnalysisRunner
  readonly clock: ManualClock
  /** The looks that were asked for, those that were kept, and what went wrong with the store. */
  readonly requests: readonly LookRequest[]
  readonly looked: readonly string[]
  readonly failures: readonly string[]
}

/** Gives a function that makes runners whose clock stands still until a test moves it; each is stopped after its test. */
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
    const requests: LookRequest[] = []
    const looked: string[] = []
    const failures: string[] = []
    const runner = new AnalysisRunner({
      writer: store.writer,
      reader: store.reader,
      concurrentLooks: 4,
      hasEndedThread: (error) => hasErrorCode(error, 'thread_lost'),
      failedLook,
      now: clock.now,
      setTimer: clock.setTimer,
      looked: ({ id }, { look, verdict }) => looked.push(`${id}: ${look} ${verdict}`),
      failed: ({ message }) => failures.push(message),
      ...more,
      takeLook: (request, givenUp) => {
        requests.push(request)
        return more.takeLook?.(request, givenUp) ?? Promise.resolve(taken(request))
      },
    })
    runners.push(runner)
    return { clock, requests, looked, failures, runner }
  }
}

/** The run once it is as `isReached` wants it. */
export function runWhen(
  { lookups }: TestStore,
  id: number,
  isReached: (looksDone: number, state: string) => boolean,
): Promise<StoredRun> {
  return waitUntil(
    async () => {
      const run = await lookups.analysis.run(id)
      return run !== undefined && isReached(run.looksDone, run.state) ? run : undefined
    },
    () => `run ${id} does not get there`,
  )
}

/** Moves the clock from look to look until the run has ended. */
export async function runToEnd(store: TestStore, id: number, { clock }: TestRunner): Promise<StoredRun> {
  const { looks } = await runWhen(store, id, () => true)
  for (let look = 1; look <= looks; look++) {
    clock.moveTo(START_MS + look * INTERVAL_MS)
    const { state } = await runWhen(store, id, (looksDone) => looksDone >= look)
    if (state !== 'RUNNING') break
  }
  return await runWhen(store, id, (_, state) => state !== 'RUNNING')
}
