import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { z } from 'zod'

import { findOpa } from '../../src/rego/opa/find-opa.js'
import { opaRegoVersion } from '../../src/rego/opa/opa-release.js'
import { evaluateCase } from '../support/conformance/evaluate-case.js'
import { askOpa } from '../support/conformance/oracle.js'
import { tableOf } from '../support/conformance/print-table.js'
import { readCases } from '../support/conformance/read-cases.js'
import { runCases } from '../support/conformance/run-cases.js'

/** Every case compiles a policy of its own: the whole takes a minute, and a part is representative. */
const EVERY = 5
const MINUTES = 60_000

const GAPS_FILE = new URL('../cases/conformance/gaps.json', import.meta.url)
const Reasons = z.record(z.string(), z.string())
const allGaps = z
  .object({ 'with either compiler': Reasons, 'with OPA 0.70': Reasons })
  .parse(JSON.parse(readFileSync(GAPS_FILE, 'utf8')))

const wantsAll = process.env['CONFORMANCE'] === 'all'
const cases = readCases().filter((_, index) => wantsAll || index % EVERY === 0)
const title = `of ${cases.length} cases of the Rego test suite only the known gaps fail`

test(title, { timeout: 10 * MINUTES }, async () => {
  expect(cases.length).toBeGreaterThan(200)
  const opa = await findOpa({ env: process.env })
  const isOlder = (await opaRegoVersion(opa)) === 0
  const gaps = { ...allGaps['with either compiler'], ...(isOlder && allGaps['with OPA 0.70']) }
  const differences = await runCases(cases, (wanted) => evaluateCase(opa, wanted))
  if (wantsAll) {
    const opas = await runCases(cases, (wanted) => askOpa(opa, wanted))
    process.stdout.write(`${tableOf(cases, differences, opas)}\n`)
  }
  const failures = [...differences].filter(([name]) => !(name in gaps))
  const closed = cases.filter(({ name }) => name in gaps && !differences.has(name)).map(({ name }) => name)
  expect(failures, 'cases that fail and are no known gap').toEqual([])
  expect(closed, 'known gaps that pass now: take them off the list').toEqual([])
})
