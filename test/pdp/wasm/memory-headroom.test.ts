import { expect, test } from 'vitest'

import { hostBuiltins } from '../../../src/pdp/builtins/index.js'
import { newCall } from '../../../src/pdp/evaluation/new-call.js'
import { meterModule } from '../../../src/pdp/wasm/module/meter-module.js'
import { PolicyInstance } from '../../../src/pdp/wasm/policy-instance.js'
import { DEFAULT_LIMITS } from '../../support/default-limits.js'
import { compileRego } from '../../support/open-reader.js'

const MIB = 1024 * 1024

test('the memory that a large input took is not asked for again, a page for every value that is made beside it', async () => {
  const { bytes, minimumPages } = meterModule(
    await compileRego(`package p

import rego.v1

made := count([[x] | some x in numbers.range(1, 3000)]) + count(input.x)
`),
  )
  const instance = new PolicyInstance(new WebAssembly.Module(bytes), minimumPages, new Map(), {
    builtins: hostBuiltins.table,
    limits: DEFAULT_LIMITS,
    data: Buffer.from('{}'),
  })
  // Some 60 MiB of values.
  const input = Buffer.from(`{"x":[${Array.from({ length: 150_000 }, () => '{"a":{"b":1}}').join()}]}`)

  const [made] = instance.evaluateAll(
    [instance.entrypoints.get('p/made') ?? -1],
    input,
    newCall({ nowMs: 0 }),
  )

  expect(made).toContain('153000')
  expect(instance.grownBytes).toBeLessThan(110 * MIB)
})
