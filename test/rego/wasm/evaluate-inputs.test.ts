import { beforeAll, expect, test } from 'vitest'

import { locateInput } from '../../../src/lib/json/scan/locate-input.js'
import { hostBuiltins } from '../../../src/rego/builtins/index.js'
import { newCall } from '../../../src/rego/evaluation/new-call.js'
import { imageOf } from '../../support/data-image.js'
import { DEFAULT_LIMITS } from '../../support/default-limits.js'
import { meterModule } from '../../../src/rego/wasm/module/meter-module.js'
import { PolicyInstance } from '../../../src/rego/wasm/policy-instance.js'
import { JsonGenerator } from '../../support/generate-json.js'
import { compactText } from '../../support/compact-text.js'
import { compileRego } from '../../support/open-reader.js'

const POLICY = `package p
import rego.v1
answer := input
walked := {[path, value] | walk(input, [path, value])}
changed := x if { x := input with input.name as {"a": [1, input.list]} with input.list as 2 }
numbers := [[n + 1, n * n, 0 - n, n / 3, n % 7, n * 1.0, abs(n), round(n), sum([n, 2]), n == 1, n > 0.5, {n}] | some n in input.numbers]
known := [n | known_numbers := {x | some x in data.known}; some n in input.numbers; known_numbers[n]]
merged := object.union(object.remove(input, ["a"]), {"b": json.filter(input, ["c/d"])})
sorted := sort(array.concat(input.list, [3, "x"]))
`
const RULES: readonly string[] = ['answer', 'walked', 'changed', 'numbers', 'known', 'merged', 'sorted']
const INPUT = `{"name":{"first":"ana","e":"\\u00e4\\n"},"list":[1,[2,{"c":null}],true,-0.5e1],
  "a":{"b":[]},"c":{"d":{},"e":1},"numbers":[123456789]}`

/** Integers of 1 to 20 digits. */
const INTEGERS = Array.from({ length: 20 }, (_, index) => '98765432109876543210'.slice(0, index + 1))

/** An instance with Tidegate's reader, and one that leaves reading to the module's runtime. */
let direct: PolicyInstance
let plain: PolicyInstance

beforeAll(async () => {
  const { bytes, minimumPages } = meterModule(await compileRego(POLICY))
  const code = {
    module: new WebAssembly.Module(bytes),
    minimumPages,
    wrappedBuiltins: new Map<number, string>(),
    callSites: '',
    rules: [],
    bytes: new Uint8Array(),
  }
  const options = {
    builtins: hostBuiltins.table,
    limits: DEFAULT_LIMITS,
    data: imageOf(`{"known":[${INTEGERS.join(',')}]}`),
  }
  direct = new PolicyInstance(code, options)
  plain = new PolicyInstance(code, options, false)
  for (const instance of [direct, plain]) instance.copyData(0, Infinity)
})

function evaluate(instance: PolicyInstance, rule: string, input: Uint8Array): string | undefined {
  const number = instance.entrypoints.get(`p/${rule}`) ?? -1
  const [text] = instance.evaluateAll([number], input, newCall({ nowMs: 0 }))
  return text === undefined ? undefined : compactText(text)
}

test('modules of the current OPA use the direct reader', () => {
  expect(direct.readsDirectly).toBe(true)
  expect(plain.readsDirectly).toBe(false)
})

test.each(RULES)('%s has the same result with both readers', (rule) => {
  expect(evaluate(direct, rule, Buffer.from(INPUT))).toBe(evaluate(plain, rule, Buffer.from(INPUT)))
})

test('integers of any length are the numbers that the data holds', () => {
  const input = Buffer.from(`{"numbers":[${INTEGERS.join(',')}]}`)
  expect(evaluate(direct, 'known', input)).toBe(`[${INTEGERS.join(',')}]`)
  expect(evaluate(direct, 'numbers', input)).toBe(evaluate(plain, 'numbers', input))
})

test.each([1, 2, 3])('random inputs of seed %i have the same results with both readers', (seed) => {
  const json = new JsonGenerator(seed)
  for (let i = 0; i < 40; i++) {
    const input = Buffer.from(`{"list":[${json.value(2)}],"numbers":[150,7],"name":${json.value(3)}}`)
    for (const rule of RULES) {
      const isSame = evaluate(direct, rule, input) === evaluate(plain, rule, input)
      expect(isSame, `${rule}: ${input.toString()}`).toBe(true)
    }
  }
})

test.each(['null', 'false', '0', '""', '[]', '{}', '{"a":1} and more'])(
  'the input %s is accepted',
  (text) => {
    expect(evaluate(direct, 'answer', Buffer.from(text))).toBe(evaluate(plain, 'answer', Buffer.from(text)))
  },
)

test('the input of a body is read once and evaluated once', () => {
  const body = Buffer.from(`{"other":{"name":1.5},"input":${INPUT}}`)
  const input = direct.readRequest(body)
  expect(input?.toString()).toBe(INPUT)
  const located = locateInput(body)
  expect(located).toMatchObject({ start: input!.byteOffset - body.byteOffset })
  const expected = evaluate(plain, 'answer', Buffer.from(INPUT))
  expect(evaluate(direct, 'answer', input!)).toBe(expected)
  expect(evaluate(direct, 'answer', input!)).toBe(expected)
})

test('a later input replaces one that was read before', () => {
  const kept = direct.readRequest(Buffer.from('{"input":{"a":1}}'))
  expect(evaluate(direct, 'answer', Buffer.from('[2]'))).toBe('[2]')
  expect(evaluate(direct, 'answer', kept!)).toBe('{"a":1}')
})

test('invalid UTF-8 ends the evaluation', () => {
  const invalid = Buffer.from([0x22, 0xff, 0x22])
  expect(() => evaluate(plain, 'answer', invalid)).toThrow('illegal utf-8')
  expect(() => evaluate(direct, 'answer', invalid)).toThrow('illegal utf-8')
})

test('a number that takes too long to read fails in the evaluation, not while the body is read', () => {
  const body = Buffer.from('{"input":{"n":1e9999999999}}')
  const input = direct.readRequest(body)
  expect(input?.toString()).toBe('{"n":1e9999999999}')
  expect(() => evaluate(direct, 'answer', input!)).toThrow('too many loop iterations')
})

test('memory grows for a large input and stays constant over many evaluations', () => {
  const large = Buffer.from(`[${'{"key":[1,"text",null]},'.repeat(60_000)}0]`)
  const before = direct.memoryBytes
  expect(evaluate(direct, 'changed', large)).toBeUndefined()
  expect(direct.memoryBytes).toBeGreaterThan(before)
  for (let i = 0; i < 10; i++) evaluate(direct, 'changed', large)
  const grown = direct.memoryBytes
  const body = Buffer.from(`{"input":${INPUT}}`)
  for (let i = 0; i < 100_000; i++) evaluate(direct, 'changed', direct.readRequest(body) ?? body)
  expect(direct.memoryBytes).toBe(grown)
})
