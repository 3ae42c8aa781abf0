import { describe, expect, test } from 'vitest'

import { cancelRun } from '../../../src/analysis/runs/analysis-operations.js'
import { AppError } from '../../../src/errors/app-error.js'
import { MINUTE_MS, START_MS, makeRunPlan, makeTiming, storeRun } from '../../support/analyses.js'
import { runToEnd, runWhen, taken, useAnalysisRunners } from '../../support/analysis-runner.js'
import type { TestRunner } from '../../support/analysis-runner.js'
import { useServiceStore } from '../../support/service-store.js'
import { soleLeases } from '../../../src/store/ports/leases.js'
import type { TestStore } from '../../support/service-store.js'
import { waitUntil } from '../../support/wait-until.js'

const TEN_MINUTES = 10 * MINUTE_MS
const ACTOR = { nowMs: START_MS, user: 'ana', origin: 'test' }

const openStore = useServiceStore()
const makeRunner = useAnalysisRunners()

async function schedule(store: TestStore, { runner }: TestRunner): Promise<number> {
  const id = await storeRun(store.writer)
  runner.schedule({ id, application: 'shop', dueMs: START_MS + TEN_MINUTES })
  return id
}

async function kinds({ lookups }: TestStore): Promise<string[]> {
  const found: string[] = []
  for (let seq = 1; ; seq++) {
    const record = await lookups.audit.find(seq)
    if (record === undefined) return found
    found.push(record.kind)
  }
}

/** Starts a runner and moves its clock until the first interval is being judged. */
async function startFirstInterval({ runner, clock, requests }: ReturnType<typeof makeRunner>): Promise<void> {
  await runner.start()
  clock.moveTo(START_MS + TEN_MINUTES)
  await waitUntil(
    () => requests[0],
    () => 'no interval is judged',
  )
}

describe('a run', () => {
  test('that starts when nothing runs is judged once each interval is over, and ends with its last interval', async () => {
    const store = await openStore()
    const made = makeRunner(store)
    await made.runner.start()
    const id = await schedule(store, made)
    const run = await runToEnd(store, id, made)
    expect(run).toMatchObject({ state: 'COMPLETED', intervalsDone: 3, score: 100, verdict: 'Success' })
    expect(run.finishedMs).toBe(START_MS + 3 * TEN_MINUTES)
    expect(made.judged).toEqual([`${id}: 1 Success`, `${id}: 2 Success`, `${id}: 3 Success`])
    expect(await kinds(store)).toEqual(['analysis.started', 'analysis.completed'])
  })

  test('is not looked at before its time', async () => {
    const store = await openStore()
    const made = makeRunner(store)
    const id = await storeRun(store.writer)
    await made.runner.start()
    made.clock.moveTo(START_MS + TEN_MINUTES - 1)
    const second = await storeRun(
      store.writer,
      makeRunPlan({ timing: makeTiming({ lifetimeMs: TEN_MINUTES, startedMs: START_MS - 1 }) }),
    )
    made.runner.schedule({ id: second, application: 'shop', dueMs: made.clock.now() })
    await runWhen(store, second, (intervalsDone) => intervalsDone === 1)
    expect(made.requests.map(({ runId }) => runId)).toEqual([second])
    expect(await store.lookups.analysis.run(id)).toMatchObject({ intervalsDone: 0, state: 'RUNNING' })
  })

  test.each([
    ['that passed had', 'Success', ['template 3']],
    ['that did not pass had, which stay new', 'Fail', []],
  ] as const)('is told which log templates an earlier run %s', async (_, verdict, seen) => {
    const store = await openStore()
    const made = makeRunner(store, {
      evaluateInterval: (request) => Promise.resolve(taken(request, { verdict })),
    })
    await runToEnd(store, await schedule(store, made), made)
    made.clock.moveTo(START_MS)
    await runToEnd(store, await schedule(store, made), made)
    expect(made.requests.map(({ seenLogTemplates }) => seenLogTemplates)).toEqual([
      ...[[], [], []],
      ...[seen, seen, seen],
    ])
  })

  test('continues after a restart where it stood, and an interval that was under way is judged again', async () => {
    const store = await openStore()
    const id = await storeRun(store.writer)
    let finish = (): void => undefined
    const first = makeRunner(store, {
      evaluateInterval: (request) =>
        request.interval === 1
          ? Promise.resolve(taken(request))
          : new Promise((resolve) => (finish = () => resolve(taken(request, { verdict: 'Fail' })))),
    })
    await first.runner.start()
    first.clock.moveTo(START_MS + TEN_MINUTES)
    await runWhen(store, id, (intervalsDone) => intervalsDone === 1)
    first.clock.moveTo(START_MS + 2 * TEN_MINUTES)
    await waitUntil(
      () => first.requests[1],
      () => 'the second interval is not judged',
    )
    const stopped = first.runner.stop()
    finish()
    await stopped
    expect(first.judged).toEqual([`${id}: 1 Success`])

    const second = makeRunner(store)
    await second.runner.start()
    const run = await runToEnd(store, id, second)
    expect(second.requests.map(({ interval }) => interval)).toEqual([2, 3])
    expect(run).toMatchObject({ state: 'COMPLETED', intervalsDone: 3, verdict: 'Success' })
  })

  test('does not hold up the end of the service: the interval under way is given up, and is no failed one', async () => {
    const store = await openStore()
    const id = await storeRun(store.writer)
    const made = makeRunner(store, {
      evaluateInterval: (_, givenUp) =>
        new Promise((_resolve, reject) => {
          givenUp.addEventListener('abort', () =>
            reject(new AppError('unavailable', 'the interval was given up')),
          )
        }),
    })
    await startFirstInterval(made)
    await made.runner.stop()
    expect([made.judged, made.failures]).toEqual([[], []])
    expect(await store.lookups.analysis.run(id)).toMatchObject({ state: 'RUNNING', intervalsDone: 0 })
  })

  test('that was due while nothing was running is looked at as soon as the service starts', async () => {
    const store = await openStore()
    const id = await storeRun(store.writer)
    const made = makeRunner(store)
    made.clock.moveTo(START_MS + 10 * TEN_MINUTES)
    await made.runner.start()
    const run = await runWhen(store, id, (_, state) => state !== 'RUNNING')
    expect(run).toMatchObject({ intervalsDone: 3, finishedMs: START_MS + 10 * TEN_MINUTES })
  })

  test('is one of as many as there are: none is forgotten at a start', async () => {
    const store = await openStore()
    const plan = makeRunPlan({ timing: makeTiming({ lifetimeMs: TEN_MINUTES }) })
    const ids = await Promise.all(Array.from({ length: 201 }, () => storeRun(store.writer, plan)))
    const made = makeRunner(store)
    made.clock.moveTo(START_MS + TEN_MINUTES)
    await made.runner.start()
    await waitUntil(
      () => (made.judged.length === ids.length ? true : undefined),
      () => `only ${made.judged.length} intervals`,
    )
    expect(await store.lookups.analysis.runs({ state: 'RUNNING', limit: 1 })).toEqual([])
  })
})

describe('a run that is cancelled', () => {
  test('is not looked at any more', async () => {
    const store = await openStore()
    const made = makeRunner(store)
    const id = await schedule(store, made)
    await store.writer.run(cancelRun, { id, actor: ACTOR })
    made.runner.forget(id)
    made.clock.moveTo(START_MS + TEN_MINUTES)
    expect(made.requests).toEqual([])
    expect(made.clock.nextMs()).toBeUndefined()
  })

  test('while an interval is under way keeps nothing of it', async () => {
    const store = await openStore()
    const id = await storeRun(store.writer)
    const made = makeRunner(store, {
      evaluateInterval: async (request) => {
        await store.writer.run(cancelRun, { id, actor: ACTOR })
        made.runner.forget(id)
        return taken(request)
      },
    })
    await startFirstInterval(made)
    await made.runner.stop()
    expect(made.judged).toEqual([])
    expect(await store.lookups.analysis.run(id)).toMatchObject({
      state: 'CANCELLED',
      intervalsDone: 0,
      message: 'cancelled after 0 of 3 intervals',
    })
    expect(await store.lookups.analysis.interval(id, 1)).toBeUndefined()
    expect(await kinds(store)).toEqual(['analysis.started', 'analysis.cancelled'])
  })
})

describe('what goes wrong', () => {
  test('with one interval fails that interval, and the run continues', async () => {
    const store = await openStore()
    const id = await storeRun(store.writer)
    const made = makeRunner(store, {
      evaluateInterval: (request) =>
        request.interval === 1
          ? Promise.reject(new AppError('unavailable', 'its thread ended'))
          : Promise.resolve(taken(request)),
    })
    await made.runner.start()
    const run = await runToEnd(store, id, made)
    expect(made.judged).toEqual([`${id}: 1 Fail`, `${id}: 2 Success`, `${id}: 3 Success`])
    expect(run).toMatchObject({ state: 'COMPLETED', verdict: 'Success', errors: [] })
  })

  test('with every interval ends the run as a failure that says so', async () => {
    const store = await openStore()
    const id = await storeRun(store.writer)
    const made = makeRunner(store, { evaluateInterval: () => Promise.reject(new Error('out of memory')) })
    await made.runner.start()
    expect(await runToEnd(store, id, made)).toMatchObject({
      state: 'COMPLETED',
      verdict: 'Fail',
      score: 0,
      errors: ['The interval could not be judged: out of memory'],
    })
    expect(made.failures).toEqual([])
  })

  test('with the store is told, and the interval is judged again five seconds later', async () => {
    const store = await openStore()
    const id = await storeRun(store.writer)
    let refusals = 1
    const made = makeRunner(store, {
      writer: {
        run: (operation, args) =>
          operation.name === 'analysis.record-interval' && refusals-- > 0
            ? Promise.reject(new AppError('unavailable', 'the disk is full'))
            : store.writer.run(operation, args),
      },
    })
    await made.runner.start()
    made.clock.moveTo(START_MS + TEN_MINUTES)
    await waitUntil(
      () => made.clock.nextMs(),
      () => 'no timer is set',
    )
    expect(made.failures).toEqual(['the disk is full'])
    expect(made.clock.nextMs()).toBe(START_MS + TEN_MINUTES + 5000)
    made.clock.moveTo(START_MS + TEN_MINUTES + 5000)
    await runWhen(store, id, (intervalsDone) => intervalsDone === 1)
    expect(made.requests.map(({ interval }) => interval)).toEqual([1, 1])
  })

  test('with keeping the judgement of an interval fails the interval, so that the run still ends', async () => {
    const store = await openStore()
    const id = await storeRun(store.writer)
    const made = makeRunner(store, {
      evaluateInterval: (request) => Promise.resolve(taken(request, { reason: 'too large to keep' })),
      writer: {
        run: (operation, args) =>
          JSON.stringify(args).includes('too large to keep')
            ? Promise.reject(new AppError('internal', 'string or blob too big'))
            : store.writer.run(operation, args),
      },
    })
    await made.runner.start()
    expect(await runToEnd(store, id, made)).toMatchObject({
      state: 'COMPLETED',
      verdict: 'Fail',
      errors: ['The interval could not be judged: string or blob too big'],
    })
  })
})

describe('an interval that ends the process', () => {
  /**
   * Simulates a service that dies while it judges the due interval: nothing is stopped in order.
   */
  async function dieTaking(store: TestStore, attempts: number): Promise<void> {
    const made = makeRunner(store, {
      // The lease of a process that is gone ends; that of this runner would be kept alive.
      leases: soleLeases,
      evaluateInterval: (_, givenUp) =>
        new Promise((_resolve, reject) =>
          givenUp.addEventListener('abort', () => reject(new Error('stopped'))),
        ),
      writer: {
        run: async (operation, args) => {
          const { attempts: noted } = args as { readonly attempts?: number }
          // A stop would undo this, a death does not.
          if (noted === attempts - 1) throw new AppError('unavailable', 'the process has ended')
          return await store.writer.run(operation, args)
        },
      },
    })
    made.clock.moveTo(START_MS + TEN_MINUTES)
    await made.runner.start()
    await waitUntil(
      () => (made.requests.length === 1 ? true : undefined),
      () => 'the interval is not judged',
    )
  }

  test('twice is not taken again, and ends its run saying why', async () => {
    const store = await openStore()
    const id = await storeRun(store.writer)
    await dieTaking(store, 1)
    expect(await store.lookups.analysis.run(id)).toMatchObject({ intervalAttempts: 1, state: 'RUNNING' })
    await dieTaking(store, 2)
    expect(await store.lookups.analysis.run(id)).toMatchObject({ intervalAttempts: 2, state: 'RUNNING' })
    const third = makeRunner(store)
    third.clock.moveTo(START_MS + TEN_MINUTES)
    await third.runner.start()
    const run = await runWhen(store, id, (_, state) => state !== 'RUNNING')
    expect(run).toMatchObject({ state: 'COMPLETED', verdict: 'Fail', score: 0, intervalAttempts: 0 })
    expect(run.message).toMatch(
      /the service or the thread of the interval ended 2 times while it was judged, and is not started again/,
    )
    expect(third.requests).toEqual([])
  })

  test('is not what a stop in order counts', async () => {
    const store = await openStore()
    const id = await storeRun(store.writer)
    for (let stops = 0; stops < 3; stops++) {
      const made = makeRunner(store, {
        evaluateInterval: (_request, givenUp) =>
          new Promise((_resolve, reject) =>
            givenUp.addEventListener('abort', () => reject(new Error('stopped'))),
          ),
      })
      made.clock.moveTo(START_MS + TEN_MINUTES)
      await made.runner.start()
      await waitUntil(
        () => (made.requests.length === 1 ? true : undefined),
        () => 'the interval is not judged',
      )
      await made.runner.stop()
      expect(await store.lookups.analysis.run(id)).toMatchObject({ intervalAttempts: 0, state: 'RUNNING' })
    }
  })
})
