import { describe, expect, test } from 'vitest'

import { keepPrintCalls } from '../../../src/rego/workarounds/dropped-print-calls.js'
import type { RegoModule } from '../../../src/rego/modules/rego-module.js'
import { evaluateDocument, planDocument } from '../../../src/rego/evaluation/evaluate-document.js'
import { newCall } from '../../../src/rego/evaluation/new-call.js'
import { loadPolicies } from '../../support/load-policies.js'

const module = (text: string, rules: RegoModule['rules'] = []): RegoModule => ({
  file: 'p.rego',
  text,
  version: 0,
  packagePath: ['p'],
  rules,
})
const keep = async (text: string): Promise<string | undefined> =>
  (await keepPrintCalls([module(text)]))[0]?.text
const set = (operand: string): string => `{tidegate_printed | tidegate_printed = ${operand}}`

describe('calls of print that OPA 0.70 keeps', () => {
  test.each([
    ['p { print("a, b)", x[1]) }', `p { internal.print([${set('"a, b)"')}, ${set('x[1]')}]) }`],
    ['p { print(f(1, [2, 3])) }', `p { internal.print([${set('f(1, [2, 3])')}]) }`],
    ['p { print() } # print("c")', 'p { internal.print([]) } # print("c")'],
    ['p { print("a",\n  x, # y, z\n) }', `p { internal.print([${set('"a"')},\n  ${set('x')}, # y, z\n]) }`],
  ])('have a set for each operand: %s', async (text, kept) => {
    expect(await keep(text)).toBe(kept)
  })

  test.each([
    'p { lib.print(1) }',
    'p { q.print }',
    'p { x := "print(1)" }',
    'p { sprint(1) }',
    'p { print(1',
  ])('are none where something else is called or meant: %s', async (text) => {
    expect(await keep(text)).toBe(text)
  })

  test('are none where a rule has the name', async () => {
    const rule = { path: ['print'], isDynamic: false, isFunction: true, excludesData: true }
    const modules = [module('p { print(1) }'), module('print(x) = x', [rule])]
    expect(await keepPrintCalls(modules)).toBe(modules)
  })

  test('print what OPA prints, whatever is around them', async () => {
    const text = `package p

import rego.v1

verdict contains x if {
	some x in input.list
	print("item", x, input.nobody, $"of {count(input.list)}")
	every y in [1, 2] { print(y); y > 0 }
}
`
    const snapshot = await loadPolicies({ 'p.rego': text }, undefined, { includesPrint: true })
    const lines: string[] = []
    const call = newCall({ print: (line) => void lines.push(line) })
    const input = Buffer.from('{"list":["b","a"]}')
    expect(evaluateDocument(planDocument(snapshot, ['p', 'verdict']), input, call)).toBe('["a","b"]')
    expect(lines).toEqual(['item b <undefined> of 2', '1', '2', 'item a <undefined> of 2', '1', '2'])
  })

  test('leave the places of errors where they are', async () => {
    const broken = 'package p\n\nimport rego.v1\n\np if { print(1); undefined_thing(2) }\n'
    await expect(
      loadPolicies({ 'p.rego': broken }, undefined, { includesPrint: true }),
    ).rejects.toMatchObject({
      details: [{ location: { row: 5, col: 18 } }],
    })
  })
})
