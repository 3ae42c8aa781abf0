import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'

import { inTemporaryDirectory } from '../../../src/lib/temporary-directory.js'
import { hostBuiltins } from '../../../src/rego/builtins/index.js'
import { evaluateDocument, planDocument } from '../../../src/rego/evaluation/evaluate-document.js'
import { loadSnapshot } from '../../../src/rego/loading/load-snapshot.js'
import { newCall } from '../../../src/rego/evaluation/new-call.js'
import { findOpa } from '../../../src/rego/opa/find-opa.js'
import type { Snapshot } from '../../../src/rego/snapshot/snapshot.js'
import { DEFAULT_LIMITS } from '../../support/default-limits.js'

const POLICY = `package p
import rego.v1
ratio := input.a / input.b
offset := substring(input.text, input.at, -1)
fallback := ratio
fallback := 0 if not ratio
matches := regex.match(input.pattern, input.text)
valid := regex.is_valid(input.pattern)
found := regex.find_all_string_submatch_n(input.pattern, input.text, -1)
`

let snapshot: Snapshot

beforeAll(async () => {
  snapshot = await load(POLICY)
})

async function load(policy: string): Promise<Snapshot> {
  return await inTemporaryDirectory(async (directory) => {
    await writeFile(join(directory, 'p.rego'), policy)
    const findProgram = () => findOpa({ env: process.env })
    return await loadSnapshot(
      { directories: [directory], bundles: [] },
      { findOpa: findProgram, builtins: hostBuiltins, limits: DEFAULT_LIMITS },
    )
  })
}

function answer(rule: string, input: unknown, strictBuiltinErrors: boolean): string | undefined {
  const plan = planDocument(snapshot, ['p', rule])
  return evaluateDocument(plan, Buffer.from(JSON.stringify(input)), newCall({ strictBuiltinErrors }))
}

test('a native built-in that fails makes its expression undefined', () => {
  expect(answer('ratio', { a: 1, b: 0 }, false)).toBeUndefined()
  expect(answer('fallback', { a: 1, b: 0 }, false)).toBe('0')
})

test.each([
  ['ratio', { a: 1, b: 0 }, 'eval_builtin_error', 'div: divide by zero'],
  ['ratio', { a: 'x', b: 1 }, 'eval_type_error', 'div: operand 1 must be number but got string'],
  ['offset', { text: 'abc', at: -1 }, 'eval_builtin_error', 'substring: negative offset'],
])('in strict mode %s over %j is the error of OPA', (rule, input, code, message) => {
  expect(() => answer(rule, input, true)).toThrow(
    expect.objectContaining({
      kind: 'evaluation_failed',
      details: [expect.objectContaining({ code, message })],
    }),
  )
})

test('a native built-in that gives a value gives it in strict mode too', () => {
  expect(answer('ratio', { a: 1, b: 4 }, true)).toBe('0.25')
})

// Results of OPA. The module's own engine runs out of memory or does not know the syntax.
test.each([
  ['matches', { pattern: '(\\pL{100}){10}', text: 'b' }, 'false'],
  ['matches', { pattern: '(\\pL{100}){10}', text: 'b'.repeat(1000) }, 'true'],
  ['matches', { pattern: '(?<n>a)', text: 'a' }, 'true'],
  ['valid', { pattern: '(?i)\\pL{1000}' }, 'true'],
  ['valid', { pattern: '(?<n>a)' }, 'true'],
  ['valid', { pattern: '(' }, 'false'],
  ['valid', { pattern: 1 }, 'false'],
  ['found', { pattern: '(?<n>a)(b)?', text: 'aab' }, '[["a","a",""],["ab","a","b"]]'],
])('%s over %j is answered by the host', (rule, input, expected) => {
  expect(answer(rule, input, false)).toBe(expected)
})

test.each(['matches', 'found'])('%s stays undefined for an invalid pattern', (rule) => {
  expect(answer(rule, { pattern: 'a{1001}', text: 'a' }, false)).toBeUndefined()
})

test('only the native built-ins that policies call are listed for the host', async () => {
  const { entrypoints } = await load(`package p
import rego.v1
like := glob.match(input.pattern, [], input.text)
`)
  // OPA links an implementation that uses regular expressions.
  const hosted = [...entrypoints.values()].flat().flatMap(({ module }) => module.hostedBuiltins)
  expect(new Set(hosted)).toEqual(new Set(['glob.match']))
})
