import { expect, test } from 'vitest'

import { tracedBuild } from '../../../src/rego/explain/traced-policies.js'
import { findOpa } from '../../../src/rego/opa/find-opa.js'
import { evaluateCase } from '../../support/conformance/evaluate-case.js'
import { readCases } from '../../support/conformance/read-cases.js'
import { runCases } from '../../support/conformance/run-cases.js'

/** A case compiles twice. All of them take many minutes (`CONFORMANCE=all`). */
const EVERY = process.env['CONFORMANCE'] === 'all' ? 1 : 12
const MINUTES = 60_000

/** Rules named by keywords, and lookups that only compile as OPA's parser read them, are refused. */
const REFUSED = /^(?:keywordrefs|baseandvirtualdocs)\//

test('policies with markers answer what they answer without', { timeout: 20 * MINUTES }, async () => {
  const opa = await findOpa({ env: process.env })
  const cases = readCases().filter(({ name }, index) => index % EVERY === 0 && !REFUSED.test(name))
  const differences = await runCases(cases, (wanted) => evaluateCase(opa, wanted, tracedBuild([], new Map())))
  const marked = cases.filter(({ name }) => differences.has(name))
  const others = await runCases(marked, (wanted) => evaluateCase(opa, wanted))
  const changed = [...differences].filter(([name]) => !others.has(name))
  expect(cases.length).toBeGreaterThan(50)
  expect(changed).toEqual([])
})
