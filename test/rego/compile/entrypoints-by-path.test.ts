import { loadPolicy } from '@open-policy-agent/opa-wasm'
import { expect, test } from 'vitest'

import { compilePolicies } from '../../../src/rego/compile/compile-policies.js'
import { findOpa } from '../../../src/rego/opa/find-opa.js'
import { renameEntrypoints } from '../../../src/rego/compile/build-module.js'
import { makeWorkspace } from '../../support/workspace.js'

/**
 * Functions that call each other keep OPA 0.70 from naming the package as an entrypoint; so do
 * numbers in a path.
 */
const FILES = {
  'calling.rego':
    'package static.calling\nimport rego.v1\nf(x) := g(x)\ng(x) := x + 1\ndeny contains "no" if f(input.a) == 2\n',
  'odd.rego': 'package odd["2"]["a b"]["x/y"]\nimport rego.v1\nvalue := 7\n',
  'long.rego': `package static.${'a'.repeat(200)}.b\nimport rego.v1\nvalue := 8\n`,
}

async function compiled() {
  const opa = await findOpa({ env: process.env })
  const workspace = makeWorkspace(FILES)
  try {
    return await compilePolicies(opa, [workspace.path])
  } finally {
    workspace.remove()
  }
}

test('a host that knows nothing of Tidegate asks packages and rules by their paths', async () => {
  const { wasm, paths } = await compiled()
  const policy = await loadPolicy(Uint8Array.from(wasm ?? []))
  const asked = (name: string, input: unknown): unknown => policy.evaluate(input, name)
  expect(asked('static/calling/deny', { a: 1 })).toEqual([{ result: ['no'] }])
  expect(asked('static/calling', { a: 1 })).toEqual([{ result: { deny: ['no'] } }])
  expect(asked('odd/2/a b', {})).toEqual([{ result: { 'x/y': { value: 7 } } }])
  expect(asked(`static/${'a'.repeat(200)}/b/value`, {})).toEqual([{ result: 8 }])
  const unnamed = [...paths].filter(([name]) => name.startsWith('tidegate_entrypoints/'))
  // A name does not distinguish a slash in a segment from one between segments.
  expect(unnamed.map(([, key]) => key).sort()).toEqual(['odd/2/a b/x%2Fy', 'odd/2/a b/x%2Fy/value'])
})

test('a name that is longer, that is not there, or that stands there twice is left as it is', async () => {
  const { wasm = new Uint8Array(), paths } = await compiled()
  const [name = ''] = [...paths].find(([, key]) => key === 'odd/2/a b/x%2Fy') ?? []
  const longer = renameEntrypoints(
    wasm,
    new Map([
      [name, `${name}longer`],
      ['nowhere', 'n'],
      ['', 'n'],
    ]),
  )
  expect([...longer.renamed]).toEqual([])
  expect(Buffer.from(longer.wasm).equals(wasm)).toBe(true)
  const shorter = renameEntrypoints(wasm, new Map([[name, 'short']]))
  expect(Object.keys((await loadPolicy(Uint8Array.from(shorter.wasm))).entrypoints as object)).toContain(
    'short',
  )
})
