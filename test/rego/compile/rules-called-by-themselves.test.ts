import { beforeAll, describe, expect, test } from 'vitest'

import { hostBuiltins } from '../../../src/rego/builtins/index.js'
import { evaluateDocument, planDocument } from '../../../src/rego/evaluation/evaluate-document.js'
import { evaluateRuntimePolicy } from '../../../src/rego/evaluation/evaluate-runtime-policy.js'
import { evaluateStaticPolicies } from '../../../src/rego/evaluation/evaluate-static-policies.js'
import { newCall } from '../../../src/rego/evaluation/new-call.js'
import { pathOfKey } from '../../../src/rego/values/path-key.js'
import { packSnapshot, unpackSnapshot } from '../../../src/rego/slow/packed-snapshot.js'
import type { Snapshot } from '../../../src/rego/snapshot/snapshot.js'
import { DEFAULT_LIMITS } from '../../support/default-limits.js'
import { loadPolicies } from '../../support/load-policies.js'

const POLICIES: Readonly<Record<string, string>> = {
  'sets.rego': `package app.sets
import rego.v1
deny contains input.reason
deny contains "second" if input.n > 1
plain := {1, "a", [input.n]}
default allow := false
allow if input.n == 1
`,
  'nested.rego': `package app.sets.inner
import rego.v1
allow if data.app.sets.allow
total := count(data.app.sets.plain) + data.app.limits.most
`,
  'heads.rego': `package app.heads
import rego.v1
deny.first contains "one" if input.n == 1
deny.second.third := "three" if input.n > 5
by_name[name] := length if { some name in ["a", "bb"]; length := count(name) * input.n }
by_pair[x][y] := x + y if { some x in [1, 2]; some y in [input.n] }
`,
  'verdicts.rego': `package app.verdicts
import rego.v1
near.deny contains "near" if input.n == 1
near[name].value := input.n if { some name in ["a", "bb"] }
far.a.deny contains "far" if input.n == 1
far[name].value := input.n if { some name in ["bb"] }
`,
  'odd.rego': `package app["odd name"]["in"]
import rego.v1
deny contains "odd" if input.n == 1
value["a b"] := input.n
`,
  'functions.rego': `package app.functions
import rego.v1
double(x) := x * 2
`,
  'silent.rego': `package app.silent
import rego.v1
allow if input.never
`,
  'mocked.rego': `package app.mocked
import rego.v1
seen := x if { x := data.app.sets.allow with input as {"n": 1} }
seen_data := x if { x := data.app.limits.most with data.app.limits.most as 9 }
seen_twice := [data.app.sets.allow, seen, data.app.sets.allow]
calls := data.app.functions.double(input.n)
`,
  'empty.rego': 'package app.sets.empty\n',
  'conflict.rego': `package app.conflict
import rego.v1
value := 1 if input.n > 6
value := 2 if input.n > 7
beside := input.n
`,
  'app/limits/data.json': '{"most": 3, "list": [1, {"a": null}]}',
  'app/silent/data.json': '{"owner": "ana"}',
  'elsewhere/data.json': '{"b": {"c": 1.50}}',
}

const INPUTS = [0, 1, 2, 6, 8].map((n) => Buffer.from(JSON.stringify({ n, reason: `r${n}` })))

let each: Snapshot
let few: Snapshot

beforeAll(async () => {
  each = await loadPolicies(POLICIES)
  few = await loadPolicies(POLICIES, DEFAULT_LIMITS, { maxEntrypoints: 0 })
})

function outcomeOf(ask: () => unknown): unknown {
  try {
    return ask() ?? 'undefined'
  } catch (raw) {
    return raw instanceof Error ? raw.message : raw
  }
}

const documentOf = (snapshot: Snapshot, path: readonly string[], input: Uint8Array): unknown =>
  outcomeOf(() => evaluateDocument(planDocument(snapshot, path), input, newCall({ nowMs: 0 })))

const verdictOf = (snapshot: Snapshot, path: readonly string[], input: Uint8Array): unknown =>
  outcomeOf(() => evaluateRuntimePolicy(planDocument(snapshot, path), input, newCall({ nowMs: 0 })))

describe('rules that are called by themselves', () => {
  test('need one entrypoint in the module, and none of the documents has code', () => {
    const [entrypoint] = few.entrypoints.get('app/sets') ?? []
    expect([...(entrypoint?.module.entrypoints.keys() ?? [])]).toHaveLength(1)
    expect(entrypoint?.parts?.rules.map(({ path }) => path.join('/'))).toContain('app/sets/inner/total')
  })

  test('add the same two exports to a module, however many there are', async () => {
    const exportsOf = ({ entrypoints }: Snapshot): string[] => {
      const [module] = [...entrypoints.values()]
        .flat()
        .flatMap((entrypoint) => entrypoint.module.parts.module)
      return module === undefined ? [] : WebAssembly.Module.exports(module).map(({ name }) => name)
    }
    const one = await loadPolicies({ 'one.rego': 'package one\nimport rego.v1\nallow if input.n == 1\n' })
    expect(exportsOf(few)).toEqual(exportsOf(one))
    expect(exportsOf(one).filter((name) => /rule|memoize/.test(name))).toEqual([
      'tidegate_memoize',
      'tidegate_rule',
    ])
  })

  test('are all there, of however many packages', async () => {
    const numbers = Array.from({ length: 41 }, (_, number) => number)
    const files = numbers.map((n) => [`p${n}.rego`, `package many.p${n}\nvalue := ${n}\n`] as const)
    const many = await loadPolicies(Object.fromEntries(files), DEFAULT_LIMITS, { maxEntrypoints: 0 })
    const expected = Object.fromEntries(numbers.map((n) => [`p${n}`, { value: n }]))
    expect(JSON.parse(String(documentOf(many, ['many'], Buffer.from('{}'))))).toEqual(expected)
  })

  test('are asked by the same paths as entrypoints are', () => {
    expect([...few.entrypoints.keys()]).toEqual(expect.arrayContaining([...each.entrypoints.keys()]))
  })

  test('answer verdicts that are named next to a variable, in a document that is no package', () => {
    const documents = ['app/verdicts/near', 'app/verdicts/far/a']
    expect(few.packages).toEqual(expect.arrayContaining(documents))
    expect(few.unanswered).toEqual(new Set())
    for (const document of documents) {
      const verdict = evaluateStaticPolicies(few, [document], INPUTS[1], newCall({ nowMs: 0 }))
      expect(verdict, document).toMatchObject({ denials: [expect.anything()] })
    }
  })

  test('say at every path what entrypoints say, as documents and as verdicts', () => {
    const below = ['', '/a', '/first', '/1', '/limits', '/x']
    const keys = [
      ...few.entrypoints.keys(),
      'elsewhere',
      'app/limits/list',
      'app/functions/double',
      'nowhere',
    ]
    for (const key of keys) {
      for (const rest of below) {
        const path = pathOfKey(`${key}${key === '' ? rest.slice(1) : rest}`)
        for (const input of INPUTS) {
          const place = `${path.join('/')} ${input.toString()}`
          expect(documentOf(few, path, input), place).toEqual(documentOf(each, path, input))
          expect(verdictOf(few, path, input), place).toEqual(verdictOf(each, path, input))
        }
      }
    }
  })

  test('are found again by another thread, documents put together from them too', async () => {
    const unpacked = await unpackSnapshot(structuredClone(packSnapshot(few)), hostBuiltins, DEFAULT_LIMITS)
    for (const key of each.entrypoints.keys()) {
      const path = pathOfKey(key)
      for (const input of INPUTS)
        expect(documentOf(unpacked, path, input)).toEqual(documentOf(each, path, input))
    }
  })
})
