import { startRun } from '../../src/analysis/runs/analysis-operations.js'
import type { IntervalReport } from '../../src/analysis/runs/intervals/interval-report.js'
import type { RunPlan, Timing } from '../../src/analysis/runs/definitions/plan.js'
import { intervalCount, intervalDueMs } from '../../src/analysis/runs/intervals/schedule.js'
import type { Writer } from '../../src/store/ports/transaction.js'

export const START_MS = Date.parse('2026-03-01T12:00:00.000Z')
export const MINUTE_MS = 60_000

/** A run of three intervals, one every ten minutes from `START_MS` on. */
export function makeTiming(more: Partial<Timing> = {}): Timing {
  return {
    startedMs: START_MS,
    lifetimeMs: 30 * MINUTE_MS,
    intervalMs: 10 * MINUTE_MS,
    warmUpMs: 0,
    delayMs: 0,
    lookBackMs: undefined,
    stepMs: MINUTE_MS,
    ...more,
  }
}

/** A plan without anything to fetch. */
export function makeRunPlan(more: Partial<RunPlan> = {}): RunPlan {
  return {
    application: 'shop',
    owner: 'ana',
    judge: 'default',
    timing: makeTiming(),
    thresholds: { pass: 90, marginal: 70 },
    targets: [],
    ...more,
  }
}

/** The report of a successful interval. */
export function makeIntervalReport(more: Partial<IntervalReport> = {}): IntervalReport {
  return {
    look: 1,
    looks: 3,
    canaryWindow: { startMs: START_MS, endMs: START_MS + 10 * MINUTE_MS },
    score: 100,
    verdict: 'Success',
    reason: 'all metrics pass',
    endsRun: false,
    isUnanswered: false,
    errors: [],
    targets: [],
    ...more,
  }
}

/** Writes a run as a registration does; returns its number. */
export async function storeRun(writer: Writer, plan: RunPlan = makeRunPlan()): Promise<number> {
  const { timing, application, owner } = plan
  return await writer.run(startRun, {
    run: {
      ...{ application, owner, executionId: '01J', plan: JSON.stringify(plan), startedMs: timing.startedMs },
      intervals: intervalCount(timing),
      nextIntervalMs: intervalDueMs(timing, 1),
    },
    planParts: [],
    actor: { nowMs: timing.startedMs, user: owner, origin: 'test' },
  })
}
