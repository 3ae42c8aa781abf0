import { afterEach, describe, expect, test } from 'vitest'

import { AppError } from '../../../src/errors/app-error.js'
import { UNNOTED_ATTEMPTS } from '../../../src/lib/work-attempts.js'
import type { Evidence } from '../../../src/gates/connectors/tool/connectors.js'
import { GateWork } from '../../../src/gates/work/gate-work.js'
import type { GateWorkDeps } from '../../../src/gates/work/gate-work.js'
import { reviewInstance } from '../../../src/gates/reviewing/review-instance.js'
import type { ServiceStore } from '../../../src/store/ports/service-store.js'
import { NOW_MS, makeGate, trail, triggered } from '../../support/gates.js'
import { useServiceStore } from '../../support/service-store.js'

const open = useServiceStore()
const working: GateWork[] = []
afterEach(async () => {
  for (const work of working.splice(0)) await work.stop()
})

const ticket: Evidence = {
  connectorType: 'JIRA',
  account: 'tickets',
  state: 'fetched',
  fetchedAt: NOW_MS,
  output: [{ jiraId: 'OPS-1', status: 'Done' }],
}
const BODY = '{"connectorType":"JIRA","executionId":"01J","toolConnectorParameters":"OPS-1"}'
const asking = { body: BODY, requestsEvidence: true }

function startWork({ writer, lookups, leases }: ServiceStore, more: Partial<GateWorkDeps> = {}): GateWork {
  const work = new GateWork({
    writer,
    gates: lookups.gates,
    leases,
    fetchEvidence: () => Promise.resolve([ticket]),
    evaluatePolicy: () => Promise.resolve({ denials: [], warnings: [] }),
    attempts: UNNOTED_ATTEMPTS,
    now: () => NOW_MS,
    concurrency: 2,
    closed: () => undefined,
    failed: (error) => {
      throw error
    },
    ...more,
  })
  working.push(work)
  return work
}

async function kinds({ lookups }: ServiceStore): Promise<string[]> {
  const found: string[] = []
  for (let seq = 1; ; seq++) {
    const record = await lookups.audit.find(seq)
    if (record === undefined) return found
    found.push(record.kind)
  }
}

describe('the work for an instance', () => {
  test('fetches what the trigger names and keeps it with the instance, leaving the decision to people', async () => {
    const store = await open()
    await triggered(store.writer, makeGate(), asking)
    const asked: unknown[] = []
    const work = startWork(store, {
      fetchEvidence: (requests) => {
        asked.push(...requests)
        return Promise.resolve([ticket])
      },
    })
    work.add(1)
    await work.idle()
    expect(asked).toEqual([{ connectorType: 'JIRA', parameters: { jira_ticket_no: ['OPS-1'] } }])
    const { evidence } = await store.lookups.gates.findDocuments(1)
    expect(JSON.parse(evidence ?? '')).toEqual([ticket])
    expect(await store.lookups.gates.findInstance(1)).toMatchObject({ state: 'activated', work: undefined })
    expect(await kinds(store)).toEqual(['gate.declared', 'gate.activated', 'gate.evidence'])
  })

  test('asks the policy with the evidence, the trigger and the gate, and approves without a denial', async () => {
    const store = await open()
    await triggered(store.writer, makeGate({ policy: 'release/approval', connectors: ['JIRA'] }), asking)
    const asked: unknown[] = []
    let told = 0
    const work = startWork(store, {
      evaluatePolicy: (...question) => {
        asked.push(question)
        return Promise.resolve({ denials: [], warnings: [] })
      },
      closed: () => (told += 1),
    })
    work.add(1)
    await work.idle()
    expect(asked).toEqual([
      [
        'release/approval',
        {
          JIRA: { output: ticket.output },
          trigger: { ...(JSON.parse(BODY) as object), user: 'ana' },
          gate: { id: 7, name: 'Release', application: 'shop', pipeline: undefined, approvals: 1 },
          application: 'shop',
          executionId: '01J',
        },
        NOW_MS,
      ],
    ])
    const decided = { state: 'approved', decidedBy: 'policy:release/approval', work: undefined }
    expect(await store.lookups.gates.findInstance(1)).toMatchObject(decided)
    expect(told).toBe(1)
    expect(await store.lookups.outbox.list({ limit: 10 })).toHaveLength(1)
  })

  test('rejects with the denials of the policy as comment', async () => {
    const store = await open()
    await triggered(store.writer, makeGate({ policy: 'p' }))
    const work = startWork(store, {
      evaluatePolicy: () => Promise.resolve({ denials: ['no ticket', 'no build'], warnings: [] }),
    })
    work.add(1)
    await work.idle()
    const instance = await store.lookups.gates.findInstance(1)
    expect(instance).toMatchObject({ state: 'rejected', comment: 'no ticket; no build' })
  })

  test.each<[string, Partial<GateWorkDeps>, string[]]>([
    ['the policy raises', { evaluatePolicy: raising('no policy at data.p') }, []],
    ['evidence failed', { fetchEvidence: () => Promise.resolve([{ ...ticket, state: 'failed' }]) }, []],
    ['no account was there', { fetchEvidence: () => Promise.resolve([{ ...ticket, state: 'skipped' }]) }, []],
    ['a connector of the gate was not asked', {}, ['SONARQUBE']],
  ])('leaves the decision to people where %s, and says so in the trail', async (_, more, connectors) => {
    const store = await open()
    await triggered(store.writer, makeGate({ policy: 'p', connectors }), asking)
    const work = startWork(store, {
      evaluatePolicy: () => Promise.resolve({ denials: [], warnings: [] }),
      ...more,
    })
    work.add(1)
    await work.idle()
    const instance = await store.lookups.gates.findInstance(1)
    expect(instance).toMatchObject({ state: 'activated', work: undefined })
    const last = (await trail(store)).at(-1)
    expect(last).toMatchObject({ kind: 'gate.left_to_people', body: { problem: instance?.policyProblem } })
    expect(instance?.policyProblem).toMatch(/\w/)
  })

  test('is found again after a restart', async () => {
    const first = await open()
    await triggered(first.writer, makeGate({ policy: 'p' }), asking)
    await first.close()
    const store = await open(first.dataDir)
    const work = startWork(store)
    await work.rescan()
    await work.idle()
    expect(await store.lookups.gates.findInstance(1)).toMatchObject({ state: 'approved' })
  })

  test('that is broken off by a stop is left to be done', async () => {
    const store = await open()
    await triggered(store.writer, makeGate(), asking)
    let begun = (): void => undefined
    const isFetching = new Promise<void>((resolve) => (begun = resolve))
    const work = startWork(store, {
      fetchEvidence: (_, signal) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => resolve([{ ...ticket, state: 'failed' }]))
          begun()
        }),
    })
    work.add(1)
    await isFetching
    await work.stop()
    expect(await store.lookups.gates.findInstance(1)).toMatchObject({ work: 'evidence' })
    expect(await store.lookups.gates.findDocuments(1)).toMatchObject({ evidence: undefined })
  })

  test('that comes after a decision changes nothing', async () => {
    const store = await open()
    await triggered(store.writer, makeGate({ policy: 'p' }), asking)
    const attempt = { person: 'bo', action: 'reject', comment: 'no', groups: [], timeMs: NOW_MS } as const
    const work = startWork(store, {
      fetchEvidence: async () => {
        await store.writer.run(reviewInstance, { instanceId: 1, attempt, origin: undefined })
        return [ticket]
      },
    })
    work.add(1)
    await work.idle()
    expect(await store.lookups.gates.findInstance(1)).toMatchObject({ state: 'rejected', comment: 'no' })
    expect((await kinds(store)).at(-1)).toBe('gate.rejected')
  })

  test('that ends after the time of the instance approves nothing', async () => {
    const store = await open()
    const { expiresMs } = await triggered(store.writer, makeGate({ policy: 'p' }), asking)
    const work = startWork(store, { now: () => expiresMs })
    work.add(1)
    await work.idle()
    expect(await store.lookups.gates.findInstance(1)).toMatchObject({ state: 'expired', work: undefined })
    expect((await kinds(store)).slice(-2)).toEqual(['gate.evidence', 'gate.expired'])
  })

  test('that fails is told of and stays to be done', async () => {
    const store = await open()
    await triggered(store.writer, makeGate(), asking)
    const failures: string[] = []
    const broken = { run: () => Promise.reject(new AppError('unavailable', 'the disk is full')) }
    const work = startWork(store, { writer: broken, failed: ({ message }) => failures.push(message) })
    work.add(1)
    await work.idle()
    expect(failures).toEqual(['the disk is full'])
    expect(await store.lookups.gates.instancesWithWork(0, 10)).toEqual([1])
  })

  test('is done for no more instances at once than allowed', async () => {
    const store = await open()
    for (let index = 0; index < 6; index++) {
      await triggered(store.writer, makeGate(), { ...asking, executionId: `e${index}` })
    }
    let running = 0
    let most = 0
    let secondBegins = (): void => undefined
    const second = new Promise<void>((resolve) => (secondBegins = resolve))
    const work = startWork(store, {
      fetchEvidence: async () => {
        most = Math.max(most, ++running)
        if (running === 2) secondBegins()
        await second
        await new Promise(setImmediate)
        running -= 1
        return [ticket]
      },
    })
    await work.rescan()
    await work.idle()
    expect(most).toBe(2)
    expect(await store.lookups.gates.instancesWithWork(0, 10)).toEqual([])
  })
})

function raising(message: string): () => Promise<never> {
  return () => Promise.reject(new AppError('evaluation_failed', message))
}
