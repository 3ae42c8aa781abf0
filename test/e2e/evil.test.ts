import { expect, test } from 'vitest'
import { readEvilRows } from '../support/evil/evil-row.js'
import { runEvilRows } from '../support/evil/run-evil-rows.js'

/** A short form of `make evil`: the rows that end soon on a machine that is busy, too. */
const NAMES = [
  'graphql.parse_query, nested',
  'json.match_schema, a circle',
  'json.match_schema, a large remainder',
  'json.patch, copies of copies',
  'net.cidr_contains_matches',
  'net.cidr_expand',
  'numbers.range_step',
  'yaml.is_valid, nested',
  'yaml.unmarshal, nested sequences',
]
const TIME_LIMIT_MS = 120_000

test(
  'no expensive built-in call allows, ends the service or delays other requests',
  async () => {
    const rows = readEvilRows().filter(({ name }) => NAMES.includes(name))
    const { outcomes, exitCode } = await runEvilRows(rows)
    expect(outcomes.map(({ name }) => name).sort()).toEqual([...NAMES].sort())
    for (const { name, status, code, cheapAnswers } of outcomes) {
      expect([name, status, code]).toEqual([name, 500, 'evaluation_budget_exceeded'])
      expect(cheapAnswers).toBeGreaterThan(0)
    }
    expect(exitCode).toBe(0)
  },
  TIME_LIMIT_MS,
)
