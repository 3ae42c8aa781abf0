import { statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { findPlannedRun } from '../../../../src/analysis/runs/analysis-operations.js'
import { saveTemplate } from '../../../../src/analysis/runs/template-operations.js'
import { defineAnalysis } from '../../../../src/analysis/runs/define-analysis.js'
import { joinPlan, keepPlan, partsOf } from '../../../../src/analysis/runs/definitions/kept-plan.js'
import { readMetricTemplate } from '../../../../src/analysis/runs/definitions/metric-template.js'
import type { RunPlan } from '../../../../src/analysis/runs/definitions/plan.js'
import { registerCanary } from '../../../../src/analysis/runs/register-canary.js'
import type { RegisterCanaryDeps, StartedRun } from '../../../../src/analysis/runs/register-canary.js'
import { readRegistration } from '../../../../src/analysis/runs/definitions/registration.js'
import { collectRun } from '../../../../src/analysis/runs/show-run.js'
import { START_MS, makeRunPlan, storeRun } from '../../../support/analyses.js'
import { useServiceStore } from '../../../support/service-store.js'
import type { ServiceStore } from '../../../../src/store/ports/service-store.js'

const open = useServiceStore()
const actor = { nowMs: START_MS, user: 'ana', origin: 'test' }
const KB = 1024

/** Nearly 256 KiB, the maximum size. */
function largeTemplate(metrics = 100): string {
  const members = Array.from({ length: metrics }, (_, index) => ({
    name: `m${index} ${'q'.repeat((250 * KB) / metrics)}`,
  }))
  return JSON.stringify({ data: { groups: [{ group: 'all', metrics: members }] } })
}

/** A registration of this many services, each with scopes of this many characters. */
function registrationOf(services: number, scopeLength = 10): object {
  const scopes = Object.fromEntries(
    Array.from({ length: services }, (_, index) => [
      `s${index}`,
      { '${version}': 'v'.repeat(scopeLength), template: 'big' },
    ]),
  )
  return {
    application: 'shop',
    canaryDeployments: [{ baseline: { metric: scopes }, canary: { metric: scopes } }],
  }
}

async function openWithTemplate(template = largeTemplate()) {
  const store = await open()
  const document = { metrics: { source: 'files', template: 'big' } }
  await defineAnalysis(store, { application: 'shop', document, origin: 'api' }, actor)
  const kept = { type: 'METRIC', name: 'big', sha1: 'a'.repeat(40), body: template, createdMs: 1 } as const
  await store.writer.run(saveTemplate, { template: kept, mayReplace: true, actor })
  const deps: RegisterCanaryDeps = {
    ...store,
    isKnownApplication: () => Promise.resolve(true),
    sources: new Map([['files', 'file']]),
    schedule: () => undefined,
  }
  const register = (body: object): Promise<StartedRun> => registerCanary(deps, readRegistration(body), actor)
  return { store, register }
}

/** Size of the database with its log. */
function bytesOf({ dataDir }: ServiceStore & { readonly dataDir: string }): number {
  const size = (file: string): number => statSync(join(dataDir, file), { throwIfNoEntry: false })?.size ?? 0
  return size('tidegate.db') + size('tidegate.db-wal')
}

describe('a plan', () => {
  test('that is kept and joined is the plan, with what its services share once', () => {
    const template = readMetricTemplate(JSON.parse(largeTemplate(3)))
    const side = { scope: { version: 'a' }, startMs: START_MS }
    const metrics = { source: 'files', aggregate: undefined, ...template, baseline: side, canary: side }
    const names = ['a', 'b', 'c']
    const plan: RunPlan = makeRunPlan({ targets: names.map((name) => ({ name, metrics, logs: undefined })) })
    const { plan: text, parts } = keepPlan(plan)
    expect(parts).toHaveLength(1)
    expect(text.length).toBeLessThan(2 * KB)
    expect(partsOf(text)).toEqual(parts.map(({ sha256 }) => sha256))
    const joined = joinPlan(text, new Map(parts.map(({ sha256, body }) => [sha256, body])))
    expect(JSON.parse(JSON.stringify(joined))).toEqual(JSON.parse(JSON.stringify(plan)))
    expect(joined.targets[2]?.metrics?.metrics).toBe(joined.targets[0]?.metrics?.metrics)
  })

  test('that an earlier release kept whole is read as it is', async () => {
    const store = await open()
    const plan = makeRunPlan()
    const id = await storeRun(store.writer, plan)
    const found = await store.reader.run(findPlannedRun, id)
    expect(found?.plan).toEqual(JSON.parse(JSON.stringify(plan)))
  })
})

describe('a registration with a template of 250 KiB', () => {
  test('of 50 services, made a hundred times, adds kilobytes each time and the template once', async () => {
    const { store, register } = await openWithTemplate()
    const run = await register(registrationOf(50))
    const before = bytesOf(store)
    for (let count = 0; count < 100; count++) await register(registrationOf(50))
    expect(bytesOf(store) - before).toBeLessThan(100 * 100 * KB)
    const found = await store.reader.run(findPlannedRun, run.id)
    expect(found?.plan.targets[49]?.metrics?.metrics).toHaveLength(100)
    const shown = await collectRun(store.lookups, run.id)
    expect(shown.plan.targets[49]?.metrics?.metrics[99]?.query).toMatch(/^m99 q+$/)
  }, 120_000)

  test.each([
    ['services', 501, 10, 1, /names 501 services, more than 500/],
    ['metrics', 51, 10, 100, /has 5100 metrics.*more than 5000/],
    ['bytes of scopes', 500, 1000, 1, /more than 1048576 bytes with its 500 services/],
  ])('is refused for too many %s, naming the bound', async (_, services, scope, metrics, message) => {
    const { register } = await openWithTemplate(largeTemplate(metrics))
    await expect(register(registrationOf(services, scope))).rejects.toMatchObject({
      kind: 'invalid',
      message: expect.stringMatching(message) as unknown,
    })
  })
})
