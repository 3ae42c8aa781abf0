import { beforeAll, describe, expect, it } from 'vitest'

import { selectPackages } from '../../../src/rego/evaluation/select-packages.js'
import { Evaluations } from '../../../src/rego/slow/evaluations.js'
import type { Snapshot } from '../../../src/rego/snapshot/snapshot.js'
import { loadPolicies } from '../../support/load-policies.js'
import { makeSlowEvaluations, startOnThisThread } from '../../support/slow-evaluations.js'

const FILES = {
  'wait.rego': `package static.wait
import rego.v1
deny contains "too long" if input.wait > 60
warn contains "rather long" if input.wait > 30
warn contains {"msg": "no owner"} if not input.owner
`,
  'owner.rego': `package static.owner
import rego.v1
deny contains sprintf("owner %v", [to_number(input.owner)]) if input.owner
`,
  'strict.rego': `package static.strict
import rego.v1
warn contains "many" if to_number(input.stages) > 3
`,
  'part.rego': `package static.part
import rego.v1
prod.warn contains "in production" if input.prod
`,
  'endless.rego': `package endless
import rego.v1
warn contains "never" if {
  some i in numbers.range(1, 100000)
  some j in numbers.range(1, 100000)
  i + j == -input.n
}
deny contains "no" if input.no
`,
}
const OPTIONS = { nowMs: 1_700_000_000_000 }

let snapshot: Snapshot

beforeAll(async () => {
  snapshot = await loadPolicies(FILES)
})

describe.each([
  ['the deciding thread', 15],
  ['a slow thread', 0],
])('advice on %s', (_, sliceMs) => {
  const advise = async (
    request: { readonly rules?: readonly string[]; readonly packages?: readonly string[] },
    input: object,
  ): Promise<readonly string[]> => {
    const slow = makeSlowEvaluations(startOnThisThread)
    const evaluations = new Evaluations({ slow, sliceMs, abandoned: () => undefined })
    const whole = { rules: [], packages: [], mustState: false, ...request }
    const found = await evaluations.advice(snapshot, whole, Buffer.from(JSON.stringify(input)), OPTIONS)
    return found.map(({ packageName, kind, text }) => `${packageName} ${kind}: ${text}`)
  }

  it('has the reasons of warn rules, with the texts of objects', async () => {
    expect(await advise({ rules: ['static/wait'] }, { wait: 90 })).toEqual([
      'static.wait rule: rather long',
      'static.wait rule: no owner',
    ])
  })

  it('has the denials of packages at the level warn', async () => {
    expect(await advise({ packages: ['static/wait'] }, { wait: 90 })).toEqual(['static.wait level: too long'])
  })

  it('reports a package that fails, and still evaluates the others', async () => {
    const packages = ['static/owner', 'static/wait']
    const found = await advise(
      { packages, rules: ['static/strict', 'static/wait'] },
      { owner: 'x', stages: 'y', wait: 90 },
    )
    expect(found).toEqual([
      expect.stringMatching(/^static\.owner error: could not be evaluated: no verdict: .*to_number/),
      'static.wait level: too long',
      expect.stringMatching(/^static\.strict error: could not be evaluated: /),
      'static.wait rule: rather long',
    ])
  })

  it('has the warnings of documents below a package', async () => {
    expect(await advise({ rules: ['static/part/prod'] }, { prod: true })).toEqual([
      'static.part.prod rule: in production',
    ])
  })
})

describe('a warn rule', () => {
  it('is no verdict: it neither denies nor allows', async () => {
    const slow = makeSlowEvaluations(startOnThisThread)
    const evaluations = new Evaluations({ slow, sliceMs: 15, abandoned: () => undefined })
    const input = Buffer.from('{"wait": 40}')
    const packages = selectPackages(snapshot, ['static.**'])
    expect(await evaluations.static(snapshot, packages, input, OPTIONS)).toEqual([])
    const alone = (): unknown => evaluations.static(snapshot, ['static/strict'], input, OPTIONS)
    expect(alone).toThrow('none of the evaluated packages states a verdict')
  })

  it('that exceeds the limits is reported once for each package', async () => {
    const limited = await loadPolicies(
      { 'endless.rego': FILES['endless.rego'] },
      {
        loopIterations: 10_000,
        loopIterationsPerInputByte: 1,
        maxDurationMs: 2000,
        sliceMs: 15,
        maxMemoryBytes: 512 * 1024 * 1024,
        recycleMemoryBytes: 64 * 1024 * 1024,
      },
    )
    const slow = makeSlowEvaluations(startOnThisThread)
    const evaluations = new Evaluations({ slow, sliceMs: 15, abandoned: () => undefined })
    const request = { rules: ['endless'], packages: [], mustState: false }
    const found = await evaluations.advice(limited, request, Buffer.from('{"n":1}'), OPTIONS)
    expect(found.map(({ packageName, kind }) => `${packageName} ${kind}`)).toEqual(['endless error'])
    expect(found[0]?.text).toContain('the evaluation was stopped')
  })
})
