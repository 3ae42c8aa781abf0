import { expect, test } from 'vitest'

import { findOpa } from '../../../src/rego/opa/find-opa.js'
import { laterKeywords } from '../../../src/rego/opa/opa-release.js'
import { newerOpa } from '../../support/compilers.js'
import { compareWithOpa } from '../../support/lookups/compare-with-opa.js'
import { randomLookups } from '../../support/lookups/random-lookups.js'

/** How many sets are made, of 40 rules with 12 inputs each, and the seed of the first. */
const SETS = Number(process.env['LOOKUP_SETS'] ?? 2)
const SEED = Number(process.env['LOOKUP_SEED'] ?? 3)
const MS_A_SET = 30_000

test(
  'random lookups of rules by variables are answered as by OPA, or refused when they are loaded',
  async () => {
    const opa = await findOpa({ env: process.env })
    const newer = newerOpa()
    const evaluator = newer === undefined ? opa : { path: newer, source: 'PATH' as const }
    const isLatest = (await laterKeywords(opa)).length > 0
    const totals = { asked: 0, refused: 0 }
    for (let seed = SEED; seed < SEED + SETS; seed += 1) {
      const { asked, refused, differences } = await compareWithOpa(
        opa,
        evaluator,
        randomLookups(seed, { questions: 40, isLatest }),
      )
      expect(differences, `seed ${seed}`).toEqual([])
      totals.asked += asked
      totals.refused += refused
    }
    expect(totals.asked).toBeGreaterThan(SETS * 100)
    if (SETS > 2) process.stdout.write(`${totals.asked} questions, ${totals.refused} rules refused\n`)
  },
  SETS * MS_A_SET,
)
