import { beforeAll, describe, expect, test } from 'vitest'
import type { ImpactResult } from '../../src/impact/impact-result.js'
import { isSlower } from '../../src/impact/impact-result.js'
import { runImpact } from '../../src/impact/run-impact.js'
import type { ImpactRun } from '../../src/impact/run-impact.js'
import { caseOfDecision } from '../../src/impact/replay-case.js'
import type { ReplayCase } from '../../src/impact/replay-case.js'
import type { Snapshot } from '../../src/rego/index.js'
import type { StoredDecision } from '../../src/store/ports/decision-store.js'
import { DEFAULT_LIMITS } from '../support/default-limits.js'
import { loadPolicies } from '../support/load-policies.js'

const WAITS = (limit: number): string => `package static.waits
import rego.v1
deny contains sprintf("waits %d", [input.wait]) if input.wait > ${limit}
`
const RUNTIME = `package runtime.window
import rego.v1
deny contains "closed" if input.hour > 18
`
const APP = `package app
import rego.v1
allow if input.user == "ana"
limit := 5
`

const SETTINGS = {
  staticPackages: ['static.**'],
  strictBuiltinErrors: 'verdicts',
  levels: [],
  exceptions: [],
} as const
const LIMITS = { maxCases: 1000, isOver: () => false, progress: () => undefined, settings: SETTINGS }

function saved(id: string, input: object, more: Partial<ReplayCase> = {}): ReplayCase {
  return {
    ...{ origin: 'decision', id, kind: 'static', path: 'staticPolicy/eval', timeMs: 0, application: 'shop' },
    input: Buffer.from(JSON.stringify(input)),
    ...more,
  }
}

async function compare(
  cases: Parameters<typeof runImpact>[0],
  sides: Pick<ImpactRun, 'before' | 'after'>,
  limits: Partial<ImpactRun> = {},
): Promise<ImpactResult> {
  const { tally, isPartial, notes } = await runImpact(cases, { ...LIMITS, ...sides, ...limits })
  const view = { name: 'x', revision: 'r', warnings: [] }
  return tally.result({ candidate: view, against: view, isPartial, notes })
}

describe('two revisions over the same inputs', () => {
  let before: Snapshot
  let after: Snapshot

  beforeAll(async () => {
    const others = { 'runtime.rego': RUNTIME, 'app.rego': APP }
    before = await loadPolicies({ 'waits.rego': WAITS(10), ...others })
    after = await loadPolicies({ 'waits.rego': WAITS(20), ...others })
  })

  test('a lost denial is a flip with both reasons, counted by package and application', async () => {
    const result = await compare([saved('1', { wait: 15 }), saved('2', { wait: 5 })], { before, after })
    expect(result.changes).toEqual({ deny_to_allow: 1 })
    expect(result.unchanged).toBe(1)
    expect(result.flips).toMatchObject([
      {
        id: '1',
        change: 'deny_to_allow',
        packages: ['static.waits'],
        before: { outcome: 'deny', reasons: [{ package: 'static.waits', deny: ['waits 15'] }] },
        after: { outcome: 'allow' },
      },
    ])
    expect(result.byPackage).toEqual([{ package: 'static.waits', changes: { deny_to_allow: 1 } }])
    expect(result.byApplication).toEqual([{ application: 'shop', changes: { deny_to_allow: 1 } }])
  })

  test('the other way round it is a new denial', async () => {
    const result = await compare([saved('1', { wait: 15 })], { before: after, after: before })
    expect(result.changes).toEqual({ allow_to_deny: 1 })
  })

  test('a revision against itself has no flip, whatever the input', async () => {
    const cases = [0, 11, 21, 99].flatMap((wait) => [
      saved(`s${wait}`, { wait }),
      saved(`r${wait}`, { hour: wait }, { kind: 'runtime', path: 'runtime/window' }),
      saved(`d${wait}`, { user: 'ana' }, { kind: 'data', path: 'app' }),
      saved(`e${wait}`, { wait: 'text' }),
    ])
    const result = await compare(cases, { before, after: before })
    expect(result.flips).toEqual([])
    expect(result.compared.total).toBe(16)
  })

  test('with known changes, only changed packages are evaluated after the first thousand', async () => {
    const many = Array.from({ length: 1100 }, (_, index) => saved(`${index}`, { wait: index }))
    const paths = many.map((one) => ({ ...one, kind: 'data' as const, path: 'app' }))
    const isChanged = ([root]: readonly string[]): boolean => root === 'static'
    const whole = await compare([...many, ...paths], { before, after }, { maxCases: 3000 })
    const limits = { maxCases: 3000, isChanged }
    const partial = await compare([...many, ...paths], { before, after }, limits)
    expect(partial.cost.evaluations).toBeLessThan(whole.cost.evaluations)
    expect(whole.changes).toEqual({ deny_to_allow: 10 })
    expect({ ...partial, cost: whole.cost }).toEqual(whole)
  })

  test('an error in a changed package is compared with the answer of all packages', async () => {
    const other = 'package static.other\nimport rego.v1\ndeny contains "x" if to_number(input.text) > 1\n'
    const failing = await loadPolicies({ 'waits.rego': WAITS(10), 'other.rego': other })
    const many = Array.from({ length: 1100 }, (_, index) => saved(`${index}`, { wait: 1, text: 'no' }))
    const isChanged = (path: readonly string[]): boolean => path[1] === 'other'
    const limits = { maxCases: 3000, isChanged }
    expect((await compare(many, { before, after: failing }, limits)).changes).toEqual({ new_error: 1100 })
    const both = await compare(many, { before: failing, after: failing }, limits)
    expect(both).toMatchObject({ changes: {}, bothFail: 1100 })
  })

  test('a document of the Data API is compared as the verdict that it is', async () => {
    const other = await loadPolicies({
      'app.rego': 'package app\nimport rego.v1\nallow if input.user == "bob"\nlimit := 6\n',
    })
    const asked = (path: string): ReplayCase => saved(path, { user: 'bob' }, { kind: 'data', path })
    const result = await compare([asked('app/allow'), asked('app/limit'), asked('app/none')], {
      before,
      after: other,
    })
    expect(result.flips.map(({ id, change }) => [id, change])).toEqual([
      ['app/allow', 'deny_to_allow'],
      ['app/limit', 'value'],
    ])
    expect(result.flips[1]).toMatchObject({ before: { value: 5 }, after: { value: 6 } })
  })

  test('an evaluation that fails only with the candidate is a new error, not a flip of the verdict', async () => {
    const failing = await loadPolicies({
      'waits.rego': 'package static.waits\nimport rego.v1\ndeny contains "x" if to_number(input.text) > 1\n',
    })
    const result = await compare([saved('1', { wait: 1, text: 'no number' })], { before, after: failing })
    expect(result.changes).toEqual({ new_error: 1 })
    expect(result.flips[0]?.after.error).toContain('to_number')
  })

  test('a candidate without static policies is an error for each saved pipeline', async () => {
    const none = await loadPolicies({ 'app.rego': APP })
    const result = await compare([saved('1', { wait: 1 })], { before, after: none })
    expect(result.changes).toEqual({ new_error: 1 })
  })

  test('a candidate that runs away ends as an error within its budget', async () => {
    const endless = await loadPolicies(
      {
        'waits.rego':
          'package static.waits\nimport rego.v1\ndeny contains "x" if { some a in numbers.range(1, 9000); some b in numbers.range(1, 9000); a * b == 7 }\n',
      },
      {
        ...DEFAULT_LIMITS,
        loopIterations: 5000,
        loopIterationsPerInputByte: 0,
      },
    )
    const result = await compare([saved('1', { wait: 1 })], { before, after: endless })
    expect(result.changes).toEqual({ new_error: 1 })
  })

  test('a run that reaches its limit says so', async () => {
    const cases = [saved('1', { wait: 1 }), saved('2', { wait: 1 })]
    const result = await compare(cases, { before, after }, { maxCases: 1 })
    expect(result).toMatchObject({ isPartial: true, compared: { total: 1 } })
    expect(result.notes[0]).toContain('limit')
  })

  test('a call of another host has the recorded answer, and none is sent', async () => {
    const calling = await loadPolicies({
      'h.rego': `package static.h
import rego.v1
deny contains "down" if http.send({"method": "get", "url": "http://127.0.0.1:1/"}).status_code == 500
`,
    })
    const recordedCalls = Buffer.from(
      JSON.stringify({
        'http.send': {
          '[{"method":"get","url":"http://127.0.0.1:1/"}]': { status_code: 500, status: '500' },
        },
      }),
    )
    const cases = [saved('kept', {}, { recordedCalls }), saved('new', {})]
    const result = await compare(cases, { before, after: calling })
    expect(result.flips).toMatchObject([{ id: 'kept', change: 'allow_to_deny' }])
    expect(result.notReplayable).toMatchObject({
      byReason: { unrecorded_call: 1 },
      listed: [{ id: 'new', reason: 'unrecorded_call' }],
    })
  })

  test('a package at the level warn changes warnings, and no verdict', async () => {
    const warning = await loadPolicies({
      'waits.rego': `# METADATA\n# custom:\n#   level: warn\n${WAITS(10)}`,
    })
    const cases = [saved('1', { wait: 15 }), saved('2', { wait: 5 })]
    const result = await compare(cases, {
      before: await loadPolicies({ 'waits.rego': WAITS(20) }),
      after: warning,
    })
    expect(result.changes).toEqual({ warnings: 1 })
    expect(result.flips).toMatchObject([
      {
        id: '1',
        packages: ['static.waits'],
        after: { outcome: 'allow', warnings: [{ deny: ['waits 15'] }] },
      },
    ])
  })

  test('random values are the same for both sides', async () => {
    const random =
      'package static.r\nimport rego.v1\ndeny contains sprintf("%d", [rand.intn("x", 1000000)])\n'
    const [one, two] = await Promise.all([
      loadPolicies({ 'r.rego': random }),
      loadPolicies({ 'r.rego': random }),
    ])
    const result = await compare([saved('1', {})], { before: one, after: two })
    expect(result.flips).toEqual([])
  })

  test('the time of both sides is measured', async () => {
    const { cost } = await compare([saved('1', { wait: 1 })], { before, after })
    expect(cost.evaluations).toBe(1)
    expect(cost.before.totalMs).toBeGreaterThan(0)
    expect(cost.after.p99Ms).toBeGreaterThan(0)
  })
})

describe('a stored decision', () => {
  const decision: StoredDecision = {
    ...{ seq: 1, timeMs: 5, decisionId: 'd', path: 'staticPolicy/eval', revision: 'r' },
    kind: 'static',
    outcome: 'allow',
    ...{ application: 'shop', executionId: null, caller: null, durationNs: 1 },
    ...{
      requestId: null,
      traceId: null,
      error: null,
      input: Buffer.from('{"a":1}'),
      inputBytes: 7,
      inputTruncated: false,
    },
    ...{ result: null, resultTruncated: false, ndBuiltinCache: null, packages: null },
  }

  test('is evaluated at its own time with its whole input', () => {
    expect(caseOfDecision(decision)).toMatchObject({ id: 'd', timeMs: 5, application: 'shop' })
  })

  test.each([
    ['cut', { inputTruncated: true }],
    ['redacted', { input: Buffer.from('{"token":"[redacted]"}') }],
    ['redacted', { input: Buffer.from('{"token":"[masked]"}') }],
    ['redacted', { ndBuiltinCache: Buffer.from('{"http.send":{"[]":"[redacted]"}}') }],
    ['no_input', { input: null }],
    ['ad_hoc_query', { kind: 'query' as const }],
  ])('is named as %s instead of guessed', (reason, change) => {
    expect(caseOfDecision({ ...decision, ...change })).toEqual({ origin: 'decision', id: 'd', reason })
  })

  test('without any input is evaluated without one', () => {
    expect(caseOfDecision({ ...decision, input: null, inputBytes: null })).toMatchObject({ input: undefined })
  })
})

test('a candidate is slower from a quarter more time per evaluation', () => {
  const cost = (meanMs: number) => ({ meanMs, p50Ms: meanMs, p99Ms: meanMs, totalMs: meanMs })
  const result = (before: number, after: number) =>
    ({ cost: { evaluations: 1, before: cost(before), after: cost(after) } }) as ImpactResult
  expect(isSlower(result(1, 1.2))).toBe(false)
  expect(isSlower(result(1, 1.3))).toBe(true)
  expect(isSlower(result(0.01, 0.03))).toBe(false)
})
