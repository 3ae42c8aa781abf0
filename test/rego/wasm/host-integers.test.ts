import { beforeAll, describe, expect, test } from 'vitest'

import { evaluateDocument, planDocument } from '../../../src/rego/evaluation/evaluate-document.js'
import { newCall } from '../../../src/rego/evaluation/new-call.js'
import type { Snapshot } from '../../../src/rego/snapshot/snapshot.js'
import { loadPolicies } from '../../support/load-policies.js'

const POLICY = `package p
import rego.v1
returned := time.parse_duration_ns(sprintf("%dns", [input.same]))
parsed := yaml.unmarshal(sprintf("value: %d", [input.same])).value
answers := {"returned": calculated(returned), "parsed": calculated(parsed)}
calculated(n) := [n * 3, n + 1, n - 1, n % 1000, abs(n), n < input.other, n == input.same, {n} == {input.same}]
`
let snapshot: Snapshot
beforeAll(async () => {
  snapshot = await loadPolicies({ 'p.rego': POLICY })
})

function answersFor(n: number): unknown {
  const input = { same: n, other: n + 1 }
  const plan = planDocument(snapshot, ['p', 'answers'])
  return JSON.parse(evaluateDocument(plan, Buffer.from(JSON.stringify(input)), newCall({})) ?? 'null')
}

describe('an integer that a built-in of the host returns', () => {
  test.each([
    0, 1, -1, 999_999_999, 1_000_000_000, 2_147_483_647, 2_147_483_648, -2_147_483_648, -2_147_483_649,
    4_294_967_296, 1_718_373_600_000, 99_999_999_999_999, -99_999_999_999_999,
  ])('is calculated with as any other: %d', (n) => {
    const expected = [n * 3, n + 1, n - 1, n % 1000, Math.abs(n), true, true, true]
    expect(answersFor(n)).toEqual({ returned: expected, parsed: expected })
  })
})
