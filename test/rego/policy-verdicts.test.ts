import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'

import { AppError } from '../../src/errors/app-error.js'
import { planDocument } from '../../src/rego/evaluation/evaluate-document.js'
import { evaluateRuntimePolicy } from '../../src/rego/evaluation/evaluate-runtime-policy.js'
import { evaluateStaticPolicies } from '../../src/rego/evaluation/evaluate-static-policies.js'
import { newCall } from '../../src/rego/evaluation/new-call.js'
import { parseDataPath } from '../../src/rego/values/data-path.js'
import { selectPackages } from '../../src/rego/evaluation/select-packages.js'
import type { Snapshot } from '../../src/rego/snapshot/snapshot.js'
import { loadPolicies } from '../support/load-policies.js'

const Outcome = z.enum(['allow', 'deny', 'undefined_policy'])
const VerdictCase = z.strictObject({
  name: z.string(),
  /** The rules of the package, and of one below it, called `below` or as said. */
  rego: z.string(),
  below: z.string().optional(),
  belowName: z.string().default('below'),
  /** Base documents at the place of the package. */
  data: z.unknown().optional(),
  /** The path below the package, requested with a flat body. */
  path: z.string().default(''),
  flat: Outcome,
  /** The verdict as a static policy. */
  static: Outcome.optional(),
})

const cases = z
  .array(VerdictCase)
  .parse(JSON.parse(readFileSync(new URL('../cases/runtime-policy-verdicts.json', import.meta.url), 'utf8')))
  .map((verdictCase, index) => ({ ...verdictCase, packageName: `case_${index}` }))

const input = Buffer.from('{"name":"x","executionId":"01J0"}')
let snapshot: Snapshot

beforeAll(async () => {
  const files: Record<string, string> = {}
  for (const { packageName, rego, below, belowName, data } of cases) {
    files[`${packageName}.rego`] = source(`rules.${packageName}`, rego)
    if (below !== undefined) {
      files[`${packageName}_below.rego`] = source(`rules.${packageName}[${JSON.stringify(belowName)}]`, below)
    }
    if (data !== undefined) files[`rules/${packageName}/data.json`] = JSON.stringify(data)
  }
  snapshot = await loadPolicies(files)
})

describe('what a policy says of an execution, by the value at the path', () => {
  test.each(cases)('$name: $flat', ({ packageName, path, flat }) => {
    const plan = planDocument(snapshot, parseDataPath(`rules/${packageName}/${path}`))
    expect(outcomeOf(() => evaluateRuntimePolicy(plan, input, newCall()))).toBe(flat)
  })
})

describe('what the same policies say of a change', () => {
  test.each(cases.filter((verdictCase) => verdictCase.static !== undefined))(
    '$name: $static',
    ({ packageName, static: expected }) => {
      const packages = selectPackages(snapshot, [`rules.${packageName}`])
      const ask = (): readonly unknown[] =>
        evaluateStaticPolicies(snapshot, packages, input, newCall()).denials
      expect(outcomeOf(ask)).toBe(expected)
    },
  )
})

function outcomeOf(ask: () => readonly unknown[]): string {
  try {
    return ask().length > 0 ? 'deny' : 'allow'
  } catch (raw) {
    return raw instanceof AppError ? raw.code : String(raw)
  }
}

function source(packageName: string, rules: string): string {
  return `package ${packageName}\n\nimport rego.v1\n\n${rules}\n`
}
