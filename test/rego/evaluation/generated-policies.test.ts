import { expect, test } from 'vitest'

import { newerOpa, olderOpa } from '../../support/compilers.js'
import { comparePolicies } from '../../support/generated-policies/compare-policies.js'

/** How many packages are made up; about one in four compiles. */
const PACKAGES = Number(process.env['POLICIES'] ?? 60)
const SEED = Number(process.env['POLICIES_SEED'] ?? 20_261_123)
/** Only policies that compile here are compared. */
const program = process.env['OPA_BIN'] ?? olderOpa()
/**
 * A module evaluates rules in a different order than OPA, so of several errors it may end with
 * another.
 */
const MOST_OTHER_ERRORS = 0.01

test.skipIf(program === undefined)(
  'rules that conflict, meet and read one another have the values that OPA gives them, or end with an error',
  async () => {
    const found = await comparePolicies(PACKAGES, SEED, program ?? newerOpa() ?? '')
    const { packages, questions, answers, errors, rows, refusedPaths } = found
    process.stdout.write(
      `${packages} packages, ${questions} questions, seed ${SEED}: ${answers.length} other answers, ${errors.length} other errors, ${rows} other rows, ${refusedPaths} paths that OPA refuses\n`,
    )
    expect(packages).toBeGreaterThan(0)
    expect(answers.slice(0, 3)).toEqual([])
    expect(errors.length / questions).toBeLessThan(MOST_OTHER_ERRORS)
  },
  60_000 + PACKAGES * 200,
)
