import { expect, test } from 'vitest'

import { hostBuiltins } from '../../../src/rego/builtins/index.js'
import { newCall } from '../../../src/rego/evaluation/new-call.js'
import { compileModule, lowestBase, pagesOfStart } from '../../../src/rego/wasm/module-code.js'
import { meterModule } from '../../../src/rego/wasm/module/meter-module.js'
import { PAGE_BYTES } from '../../../src/rego/wasm/module/module-memory.js'
import { PolicyModule } from '../../../src/rego/wasm/policy-module.js'
import { imageOf } from '../../support/data-image.js'
import { DEFAULT_LIMITS } from '../../support/default-limits.js'
import { compileRego } from '../../support/open-reader.js'

/** Each name is in the module twice: in its data, and in the heap that its start writes. */
const RULES = 300
const LONG_NAME = 'r'.repeat(2000)

test('the data of a module is placed after the function names that its start writes to the heap', async () => {
  const rules = Array.from({ length: RULES }, (_, place) => `${LONG_NAME}${place} := input.a\n`)
  const wasm = await compileRego(['package p\n', ...rules].join(''))
  const code = await compileModule(wasm)
  expect(lowestBase(code)).toBeGreaterThan((meterModule(wasm).minimumPages + 4) * PAGE_BYTES)
  const module = await PolicyModule.load(code, {
    builtins: hostBuiltins.table,
    limits: DEFAULT_LIMITS,
    data: imageOf('{"a": 2}', lowestBase(code)),
  })
  const last = module.rules.get(`p/${LONG_NAME}${RULES - 1}`) ?? -1
  expect(module.evaluate(last, Buffer.from('{"a": 7}'), newCall({ nowMs: 0 }))).toBe('7')
})

test('a module that does not start needs its initial memory', () => {
  const needsFunction = new WebAssembly.Module(
    Buffer.from([0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 2, 7, 1, 1, 101, 1, 102, 0, 0]),
  )
  expect(pagesOfStart(needsFunction, 3)).toBe(3)
})

test('a small module needs only its initial memory', async () => {
  const wasm = await compileRego('package p\nanswer := input\n')
  expect((await compileModule(wasm)).minimumPages).toBe(meterModule(wasm).minimumPages)
})
