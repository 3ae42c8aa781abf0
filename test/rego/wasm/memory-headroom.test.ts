import { beforeAll, expect, test } from 'vitest'

import { hostBuiltins } from '../../../src/rego/builtins/index.js'
import { newCall } from '../../../src/rego/evaluation/new-call.js'
import { EvaluationSlice } from '../../../src/rego/wasm/evaluation-budget.js'
import { meterModule } from '../../../src/rego/wasm/module/meter-module.js'
import { PolicyInstance } from '../../../src/rego/wasm/policy-instance.js'
import { imageOf } from '../../support/data-image.js'
import { DEFAULT_LIMITS } from '../../support/default-limits.js'
import { compileRego } from '../../support/open-reader.js'

const MIB = 1024 * 1024
const LONG_MS = 60_000

/** About 60 MiB of values. */
const WIDE = Buffer.from(`{"x":[${Array.from({ length: 150_000 }, () => '{"a":{"b":1}}').join()}]}`)
const NARROW = Buffer.from('{"x":[]}')

let instance: PolicyInstance

beforeAll(async () => {
  const { bytes, minimumPages } = meterModule(
    await compileRego(`package p

import rego.v1

made := count([[x] | some x in numbers.range(1, 3000)]) + count(input.x)
`),
  )
  const code = {
    module: new WebAssembly.Module(bytes),
    minimumPages,
    wrappedBuiltins: new Map<number, string>(),
    callSites: '',
    rules: [],
    bytes: new Uint8Array(),
  }
  instance = new PolicyInstance(code, {
    builtins: hostBuiltins.table,
    limits: DEFAULT_LIMITS,
    data: imageOf('{}'),
  })
  instance.copyData(0, Infinity)
})

function made(input: Uint8Array, slice?: EvaluationSlice): string | undefined {
  const entrypoint = instance.entrypoints.get('p/made') ?? -1
  return instance.evaluateAll([entrypoint], input, { ...newCall({ nowMs: 0 }), slice })[0]
}

test('memory that a large input took is not requested again page by page', () => {
  expect(made(WIDE)).toContain('153000')
  expect(instance.grownBytes).toBeLessThan(110 * MIB)
})

test('an evaluation does not end for memory that an earlier one took', () => {
  made(WIDE)
  for (let i = 0; i < 50; i++) expect(made(NARROW, new EvaluationSlice(LONG_MS))).toContain('3000')
})
