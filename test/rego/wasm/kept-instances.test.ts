import { expect, test } from 'vitest'

import { hostBuiltins } from '../../../src/rego/builtins/index.js'
import { newCall } from '../../../src/rego/evaluation/new-call.js'
import { compileModule } from '../../../src/rego/wasm/module-code.js'
import { PolicyModule } from '../../../src/rego/wasm/policy-module.js'
import { countMemories } from '../../support/count-memories.js'
import { imageOf } from '../../support/data-image.js'
import { DEFAULT_LIMITS } from '../../support/default-limits.js'
import { compileRego } from '../../support/open-reader.js'

const MIB = 1024 * 1024
const LARGE = Buffer.from(`[${'{"key":[1,"text",null]},'.repeat(100_000)}0]`)
/** More memory than evaluating it takes, and less than the memory grows by. */
const RECYCLED_BETWEEN = 46 * MIB
const SMALL = Buffer.from('[1,2]')

async function load(
  rego = 'count(input)',
  recycleMemoryBytes = MIB,
  data = imageOf('{}'),
): Promise<(input: Uint8Array) => string | undefined> {
  const code = await compileModule(await compileRego(`package p\nimport rego.v1\nanswer := ${rego}\n`))
  const limits = { ...DEFAULT_LIMITS, recycleMemoryBytes }
  const module = await PolicyModule.load(code, { builtins: hostBuiltins.table, limits, data })
  const answer = module.rules.get('p/answer') ?? -1
  return (input) => module.evaluate(answer, input, newCall({ nowMs: 0 }))
}

test('consecutive large inputs share one memory, with small ones between them', async () => {
  const evaluate = await load()
  const made = countMemories()
  for (let round = 0; round < 10; round += 1) {
    expect(evaluate(LARGE)).toBe('100001')
    expect(evaluate(SMALL)).toBe('2')
  }
  expect(made()).toBe(0)
})

test('memory is kept while evaluations need most of its growth', async () => {
  const evaluate = await load('count(input)', RECYCLED_BETWEEN)
  const made = countMemories()
  for (let round = 0; round < 30; round += 1) expect(evaluate(LARGE)).toBe('100001')
  expect(made()).toBe(0)
})

test('unneeded memory is released', async () => {
  const evaluate = await load()
  evaluate(LARGE)
  const made = countMemories()
  for (let round = 0; round < 100; round += 1) expect(evaluate(SMALL)).toBe('2')
  expect(made()).toBe(1)
})

test('the memory grows by the needs of evaluations, not by the size of the data', async () => {
  const texts = Array.from({ length: 250_000 }, (_, n) => `text number ${n} of the base documents`)
  const data = imageOf(JSON.stringify({ texts }))
  expect(data.bytes.length).toBeGreaterThan(16 * MIB)
  const evaluate = await load('count([x | some x in numbers.range(1, input[0])])', 6 * MIB, data)
  const made = countMemories()
  for (let round = 0; round < 60; round += 1) expect(evaluate(Buffer.from('[9000]'))).toBe('9000')
  expect(made()).toBe(0)
})

test('only a trial load without data does not determine how inputs are read', async () => {
  const code = await compileModule(await compileRego('package p\nanswer := input\n'))
  const readsDirectly = async (json: string, isTrial: boolean): Promise<boolean> => {
    const settings = { builtins: hostBuiltins.table, limits: DEFAULT_LIMITS, data: imageOf(json), isTrial }
    return (await PolicyModule.load(code, settings)).readsDirectly
  }
  expect(await readsDirectly('{}', true)).toBe(false)
  expect(await readsDirectly('{"a":1}', true)).toBe(true)
  expect(await readsDirectly('{}', false)).toBe(true)
})
