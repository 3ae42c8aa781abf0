import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'

import { inTemporaryDirectory } from '../../../src/lib/temporary-directory.js'
import { compilePolicies } from '../../../src/rego/compile/compile-policies.js'
import { findOpa } from '../../../src/rego/opa/find-opa.js'
import { wrapNativeBuiltins } from '../../../src/rego/wasm/wrap-native-builtins.js'
import { compactText } from '../../support/compact-text.js'
import { ANSWERS_FROM, LEFT_TO_NATIVE } from '../../../src/rego/wasm/native-wrapper.js'

const POLICY = `package p
import rego.v1
number := to_number(input.a)
sum := input.a + input.b
literal := input.a + 3600
decimal := input.a + 0.25
matches := regex.match(input.a, "abc")
`

let module: WebAssembly.Module
let entrypoints: readonly string[]

beforeAll(async () => {
  await inTemporaryDirectory(async (directory) => {
    await writeFile(join(directory, 'p.rego'), POLICY)
    const opa = await findOpa({ env: process.env })
    const { wasm, paths } = await compilePolicies(opa, [directory])
    if (wasm === undefined) throw new Error('no rules')
    module = new WebAssembly.Module(wrapNativeBuiltins(wasm).bytes)
    entrypoints = [...paths.keys()]
  })
})

/**
 * The result set of a rule, and how often the module called its host first. The host leaves
 * everything to the module.
 */
function ask(rule: string, input: unknown): { readonly text: string; readonly asked: number } {
  const memory = new WebAssembly.Memory({ initial: 10, maximum: 100 })
  let asked = 0
  const builtin = (id: number): number => {
    if (id < ANSWERS_FROM) return 0
    asked += 1
    return LEFT_TO_NATIVE
  }
  const env = { memory, opa_abort: () => undefined, opa_println: () => undefined }
  const builtins = Object.fromEntries([0, 1, 2, 3, 4].map((count) => [`opa_builtin${count}`, builtin]))
  const { exports } = new WebAssembly.Instance(module, { env: { ...env, ...builtins } })
  const call = (name: string, ...args: number[]): number =>
    (exports[name] as (...args: number[]) => number)(...args)
  const place = (text: string): readonly [number, number] => {
    const address = call('opa_malloc', text.length)
    Buffer.from(memory.buffer).write(text, address)
    return [address, text.length]
  }
  const data = call('opa_value_parse', ...place('{}'))
  const context = call('opa_eval_ctx_new')
  call('opa_eval_ctx_set_data', context, data)
  call('opa_eval_ctx_set_input', context, call('opa_json_parse', ...place(JSON.stringify(input))))
  call('opa_eval_ctx_set_entrypoint', context, entrypoints.indexOf(`p/${rule}`))
  call('eval', context)
  const shown = call('opa_value_dump', call('opa_eval_ctx_get_result', context))
  const bytes = Buffer.from(memory.buffer)
  return { text: compactText(bytes.toString('utf8', shown, bytes.indexOf(0, shown))), asked }
}

describe('the module asks its host', () => {
  it.each([
    ['number', { a: '600' }, '600'],
    ['number', { a: '0' }, '0'],
    ['number', { a: '123456789012345' }, '123456789012345'],
    ['number', { a: 12.5 }, '12.5'],
    ['number', { a: null }, '0'],
    ['sum', { a: 1, b: 100 }, '101'],
    ['sum', { a: 9, b: 123456789 }, '123456798'],
    ['literal', { a: 1 }, '3601'],
    ['matches', { a: '^a.c$' }, 'true'],
    ['matches', { a: '' }, 'true'],
    ['matches', { a: '\\Qa\\E' }, 'true'],
  ])('nothing for %s of %j', (rule, input, expected) => {
    expect(ask(rule, input)).toEqual({ text: `{{"result":${expected}}}`, asked: 0 })
  })

  it.each([
    ['number', { a: '' }],
    ['number', { a: '007' }],
    ['number', { a: '-1' }],
    ['number', { a: '1.5' }],
    ['number', { a: '60x' }],
    ['number', { a: '1234567890123456' }],
    ['sum', { a: 1.5, b: 1 }],
    ['sum', { a: 1, b: 1.5 }],
    ['decimal', { a: 1 }],
    ['matches', { a: 'a\\C' }],
    ['matches', { a: 'a'.repeat(301) }],
  ])('about %s of %j', (rule, input) => {
    expect(ask(rule, input).asked).toBeGreaterThan(0)
  })
})
