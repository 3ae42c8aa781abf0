import { expect, test } from 'vitest'

import { compareWithOpa } from '../../support/native-calls/compare-with-opa.js'

/** Calls of each built-in; `make fuzz-builtins` makes more of them. */
const CALLS = Number(process.env['NATIVE_CALLS'] ?? 100)
const SEED = Number(process.env['NATIVE_CALLS_SEED'] ?? 20_240_611)

test(
  'every native built-in of the module answers generated calls as OPA does',
  async () => {
    const { calls, differences } = await compareWithOpa(CALLS, SEED)
    process.stdout.write(`native built-ins: ${calls} calls, ${differences.length} differ, seed ${SEED}\n`)
    expect(differences.slice(0, 20)).toEqual([])
  },
  60_000 + CALLS * 200,
)
