import { beforeAll, describe, expect, it, test } from 'vitest'

import { AppError } from '../../../src/errors/app-error.js'
import { planDocument } from '../../../src/rego/evaluation/evaluate-document.js'
import type { StrictBuiltinErrors } from '../../../src/rego/slow/strict-builtin-errors.js'
import { Evaluations } from '../../../src/rego/slow/evaluations.js'
import type { Snapshot } from '../../../src/rego/snapshot/snapshot.js'
import { loadPolicies } from '../../support/load-policies.js'
import { makeSlowEvaluations, startOnThisThread } from '../../support/slow-evaluations.js'

const WAITS = `package static.waits
import rego.v1
deny contains msg if {
  some s in input.stages
  s.waitTime > 3600
  msg := concat(" ", ["too long:", s.name, s.waitTime])
}
`
/** Built-ins of the module, of the host, and in a helper of another package. */
const OTHERS = `package runtime.others
import rego.v1
import data.lib.times
deny contains "late" if { input.kind == "helper"; times.late(input.text) }
deny contains "bad" if { input.kind == "native"; startswith(input.text, "x") }
deny contains "old" if { input.kind == "host"; time.parse_rfc3339_ns(input.text) < 5 }
deny contains "json" if { input.kind == "json"; json.unmarshal(input.text).bad }
allow_rule := true
`
const LIB = `package lib.times
import rego.v1
late(text) if to_number(text) > 5
`
const INPUT = Buffer.from('{"stages":[{"name":"w","waitTime":7200}]}')
const OPTIONS = { nowMs: 1_700_000_000_000 }

let snapshot: Snapshot

beforeAll(async () => {
  snapshot = await loadPolicies({ 'w.rego': WAITS, 'o.rego': OTHERS, 'lib.rego': LIB })
})

function evaluationsOf(sliceMs: number, strictBuiltinErrors?: StrictBuiltinErrors): Evaluations {
  const slow = makeSlowEvaluations(startOnThisThread)
  return new Evaluations({
    slow,
    sliceMs,
    abandoned: () => undefined,
    ...(strictBuiltinErrors && { strictBuiltinErrors }),
  })
}

async function failureOf(evaluate: () => unknown): Promise<AppError> {
  try {
    await evaluate()
  } catch (raw) {
    if (raw instanceof AppError) return raw
    throw raw
  }
  throw new Error('it gives a value')
}

const askStatic = (evaluations: Evaluations, more = {}) =>
  evaluations.static(snapshot, ['static/waits'], INPUT, { ...OPTIONS, ...more })
const askDocument = (evaluations: Evaluations, more = {}) =>
  evaluations.document(planDocument(snapshot, ['static', 'waits', 'deny']), INPUT, { ...OPTIONS, ...more })

describe.each([
  ['on the thread that decides', 60_000],
  ['on a slow thread', 0],
])('a built-in that fails %s', (_, sliceMs) => {
  it('leaves a change without a verdict, and the error names the rule', async () => {
    const error = await failureOf(() => askStatic(evaluationsOf(sliceMs)))
    expect(error).toMatchObject({ kind: 'evaluation_failed', code: 'evaluation_failed' })
    expect(error.message).toContain('data.static.waits.deny')
    expect(error.message).toContain('concat: operand 2')
    expect(error.details).toMatchObject([{ code: 'eval_type_error', location: { file: 'w.rego', row: 6 } }])
  })

  test.each([
    ['helper', '"x"'],
    ['native', '7'],
    ['host', '"no time"'],
    ['json', '"{"'],
  ])('leaves an execution without a verdict: %s', async (kind, text) => {
    const input = Buffer.from(`{"kind":"${kind}","text":${text}}`)
    const plan = planDocument(snapshot, ['runtime', 'others'])
    const error = await failureOf(() => evaluationsOf(sliceMs).runtime(plan, input, OPTIONS))
    expect(error).toMatchObject({ kind: 'evaluation_failed' })
    expect(error.message).toMatch(/^no verdict: a built-in function fails in data\.(?:runtime|lib)\./)
  })

  it('is reported with the start of a long operand', async () => {
    const plan = planDocument(snapshot, ['runtime', 'others'])
    const input = Buffer.from(`{"kind":"host","text":"${'é'.repeat(1_000_000)}"}`)
    const error = await failureOf(() => evaluationsOf(sliceMs).runtime(plan, input, OPTIONS))
    expect(error.message).toContain('time.parse_rfc3339_ns: parsing time')
    expect(JSON.stringify([error.message, error.details]).length).toBeLessThan(50_000)
  })

  it('leaves a rule undefined that is read as a document, as in OPA', async () => {
    expect(await askDocument(evaluationsOf(sliceMs))).toBe('[]')
  })

  it('is an error for a document that is used as a verdict, or of which the client wants one', async () => {
    for (const more of [{ isVerdict: true }, { strictBuiltinErrors: true }])
      expect((await failureOf(() => askDocument(evaluationsOf(sliceMs), more))).kind).toBe(
        'evaluation_failed',
      )
  })

  it('is an error for every document where the configuration says all', async () => {
    const error = await failureOf(() => askDocument(evaluationsOf(sliceMs, 'all')))
    expect(error.message).toBe('error(s) occurred while evaluating query')
  })

  it('is none where the configuration says off, unless the client wants one', async () => {
    const evaluations = evaluationsOf(sliceMs, 'off')
    expect(await askStatic(evaluations)).toEqual([])
    const error = await failureOf(() => askStatic(evaluations, { strictBuiltinErrors: true }))
    expect(error.kind).toBe('evaluation_failed')
  })
})
