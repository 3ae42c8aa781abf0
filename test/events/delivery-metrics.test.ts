import { describe, expect, it } from 'vitest'

import { deliveryMetrics } from '../../src/events/delivery-metrics.js'
import { readPipelineRun } from '../../src/events/pipeline-run.js'
import type { PipelineRun } from '../../src/events/pipeline-run.js'
import { readEvent } from '../../src/events/read-event.js'
import type { EventBody } from '../support/orchestrator-events.js'
import { changeEvent, pipelineEvent, pipelineExecution } from '../support/orchestrator-events.js'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const WINDOW = { from: 10 * DAY, to: 20 * DAY }

let runs = 0
function run(
  outcome: PipelineRun['outcome'],
  endedAt: number,
  members: Partial<PipelineRun> = {},
): PipelineRun {
  return {
    executionId: `run-${++runs}`,
    application: 'shop',
    pipeline: 'prod',
    outcome,
    deploys: true,
    triggeredAt: endedAt - HOUR,
    endedAt,
    ...members,
  }
}

const totalOf = (...given: PipelineRun[]) => deliveryMetrics(given, WINDOW).total

describe('the delivery figures', () => {
  it('count successful deployments a day', () => {
    const given = Array.from({ length: 5 }, (_, day) => run('succeeded', (11 + day) * DAY))
    expect(totalOf(...given)).toMatchObject({ deployments: 5, deploymentsPerDay: 0.5, failedDeployments: 0 })
  })

  it('count what ends in the window, its first moment included and its last excluded', () => {
    const at = [WINDOW.from - 1, WINDOW.from, WINDOW.to - 1, WINDOW.to]
    expect(totalOf(...at.map((endedAt) => run('succeeded', endedAt))).deployments).toBe(2)
  })

  it('take the lead time from the trigger to the end of successful deployments', () => {
    const hours = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
    const given = hours.map((h) => run('succeeded', 11 * DAY, { triggeredAt: 11 * DAY - h * HOUR }))
    const failed = run('failed', 11 * DAY, { triggeredAt: 0, pipeline: 'other' })
    expect(totalOf(...given, failed).leadTime).toEqual({ count: 11, medianMs: 6 * HOUR, p90Ms: 10 * HOUR })
  })

  it('take failed deployments as a part of all that were not canceled', () => {
    const given = [run('failed', 11 * DAY), run('canceled', 12 * DAY), run('succeeded', 13 * DAY)]
    expect(totalOf(...given)).toMatchObject({ failedDeployments: 1, deployments: 1, changeFailureRate: 0.5 })
  })

  it('take the time to restore from the first failure to the next success of the same pipeline', () => {
    const other = run('succeeded', 11 * DAY + HOUR, { pipeline: 'other' })
    const given = [
      run('succeeded', 13 * DAY),
      run('failed', 11 * DAY),
      run('failed', 12 * DAY),
      other,
      run('failed', 14 * DAY),
      run('succeeded', 14 * DAY + HOUR),
    ]
    expect(totalOf(...given)).toMatchObject({
      timeToRestore: { count: 2, medianMs: (2 * DAY + HOUR) / 2 },
      unrestored: 0,
    })
  })

  it('count an outage when it ends, even if it began before the window', () => {
    const begun = run('failed', 9 * DAY)
    expect(totalOf(begun, run('succeeded', 11 * DAY))).toMatchObject({
      failedDeployments: 0,
      timeToRestore: { count: 1, medianMs: 2 * DAY },
    })
    expect(totalOf(begun, run('succeeded', 9.5 * DAY)).timeToRestore).toBeNull()
    expect(totalOf(begun, run('succeeded', 20 * DAY))).toMatchObject({ timeToRestore: null, unrestored: 1 })
  })

  it('count runs that deployed nothing only where all are asked for', () => {
    const given = [run('succeeded', 11 * DAY, { deploys: false }), run('succeeded', 11 * DAY)]
    expect(deliveryMetrics(given, WINDOW).total.deployments).toBe(1)
    expect(deliveryMetrics(given, WINDOW, 'all').total.deployments).toBe(2)
  })

  it('count a run once, by its last end', () => {
    const again = [run('failed', 11 * DAY), run('succeeded', 12 * DAY)].map((one) => ({
      ...one,
      executionId: 'same',
    }))
    expect(totalOf(...again, ...again.toReversed())).toMatchObject({ deployments: 1, failedDeployments: 0 })
  })

  it('stand for each application by itself and for all together', () => {
    const given = [
      run('succeeded', 11 * DAY, { application: 'b' }),
      run('failed', 11 * DAY, { application: 'a' }),
      run('succeeded', 12 * DAY, { application: 'b' }),
      run('succeeded', 1 * DAY, { application: 'c' }),
    ]
    expect(deliveryMetrics(given, WINDOW)).toMatchObject({
      total: { deployments: 2, failedDeployments: 1, unrestored: 1 },
      applications: [
        { application: 'a', deployments: 0, changeFailureRate: 1, leadTime: null, unrestored: 1 },
        { application: 'b', deployments: 2, changeFailureRate: 0, timeToRestore: null },
      ],
    })
  })

  it('are no numbers where there was nothing', () => {
    expect(deliveryMetrics([], WINDOW)).toEqual({
      total: {
        deployments: 0,
        failedDeployments: 0,
        deploymentsPerDay: 0,
        changeFailureRate: null,
        leadTime: null,
        timeToRestore: null,
        unrestored: 0,
      },
      applications: [],
    })
  })
})

describe('the end of a run', () => {
  const runOf = (event: EventBody) =>
    readPipelineRun(readEvent(Buffer.from(JSON.stringify(event)), 'audit', 1))
  const execution = (status: string, ...stages: readonly EventBody[]) =>
    pipelineEvent(pipelineExecution({ status, stages, buildTime: 1_718_000_050_000 }))

  it('is read from the event', () => {
    expect(runOf(execution('SUCCEEDED', { type: 'deployManifest', status: 'SUCCEEDED' }))).toEqual({
      executionId: '01J0RUN',
      application: 'shop',
      pipeline: 'prod-rollout',
      outcome: 'succeeded',
      deploys: true,
      triggeredAt: 1_718_000_050_000,
      endedAt: 1_718_000_899_000,
    })
  })

  it.each([
    ['TERMINAL', 'failed'],
    ['STOPPED', 'failed'],
    ['CANCELED', 'canceled'],
    ['SOMETHING', 'failed'],
  ])('with status %s is %s', (status, outcome) => {
    expect(runOf(execution(status))?.outcome).toBe(outcome)
  })

  it.each<readonly [string, string, boolean]>([
    ['deploy', 'TERMINAL', true],
    ['deployManifest', 'NOT_STARTED', false],
    ['deployManifest', 'SKIPPED', false],
    ['policy', 'TERMINAL', false],
  ])('in which a stage %s was %s deployed something: %s', (type, status, deploys) => {
    expect(runOf(execution('TERMINAL', { type, status }))?.deploys).toBe(deploys)
  })

  it('is told by no other event', () => {
    expect(runOf(changeEvent([]))).toBeUndefined()
    expect(runOf(pipelineEvent(pipelineExecution(), 'orca:pipeline:starting'))).toBeUndefined()
    expect(runOf(pipelineEvent({ id: 'x' }))).toBeUndefined()
  })
})
