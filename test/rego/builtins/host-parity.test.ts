import { expect, test } from 'vitest'

import { newerOpa, usesNewerOpa } from '../../support/compilers.js'
import { compareWithOpa } from '../../support/native-calls/compare-with-opa.js'
import { HOST_SIGNATURES, NEWER_SIGNATURES } from '../../support/native-calls/host-signatures.js'

/** Number of calls per built-in; `make fuzz-builtins` sets more. */
const CALLS = Number(process.env['HOST_CALLS'] ?? 60)
const SEED = Number(process.env['HOST_CALLS_SEED'] ?? 20_240_612)

const newer = newerOpa()
const signatures = usesNewerOpa() ? [...HOST_SIGNATURES, ...NEWER_SIGNATURES] : HOST_SIGNATURES

test.skipIf(newer === undefined)(
  'every built-in of the host answers generated calls as OPA 1.x does (skipped without one: TEST_OPA_1)',
  async () => {
    const { calls, differences } = await compareWithOpa(CALLS, SEED, newer ?? '', signatures)
    process.stdout.write(
      `built-ins of the host: ${calls} calls, ${differences.length} differ, seed ${SEED}\n`,
    )
    // Differences are errors that only one of the two parsers detects in malformed texts; see
    // docs/conformance.md.
    expect(differences.length, JSON.stringify(differences.slice(0, 20), null, 2)).toBeLessThanOrEqual(
      calls / 1000,
    )
  },
  60_000 + CALLS * 2000,
)
