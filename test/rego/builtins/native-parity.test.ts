import { expect, test } from 'vitest'

import { newerOpa } from '../../support/compilers.js'
import { compareWithOpa } from '../../support/native-calls/compare-with-opa.js'

/** Number of calls per built-in; `make fuzz-builtins` sets more. */
const CALLS = Number(process.env['NATIVE_CALLS'] ?? 100)
const SEED = Number(process.env['NATIVE_CALLS_SEED'] ?? 20_240_611)

const newer = newerOpa()

test.skipIf(newer === undefined)(
  'every native built-in of the module answers generated calls as OPA 1.x does (skipped without one: TEST_OPA_1)',
  async () => {
    const { calls, differences } = await compareWithOpa(CALLS, SEED, newer ?? '')
    process.stdout.write(`native built-ins: ${calls} calls, ${differences.length} differ, seed ${SEED}\n`)
    expect(differences.slice(0, 20)).toEqual([])
  },
  60_000 + CALLS * 200,
)
