import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

import { expect, test } from 'vitest'

import { AppError } from '../../../src/errors/app-error.js'
import { readModules, readPlainModule } from '../../../src/rego/modules/read-modules.js'
import type { RegoModule } from '../../../src/rego/modules/rego-module.js'
import { findOpa } from '../../../src/rego/opa/find-opa.js'
import type { RegoVersion } from '../../../src/rego/opa/opa-release.js'
import { runOpa } from '../../../src/rego/opa/run-opa.js'
import { seededRandom } from '../../support/generate-json.js'
import { loadPolicies } from '../../support/load-policies.js'

const OLDER = `package older.teams

import data.limits as limits

default allow = false

deny[message] {
	input.a == 1
	message := "one # two"
}

deny["closed"] { input.closed }

f(x) = y {
	y := x + 1
}

names := {name | name := input.names[_]}
most = 3
`
const RULES_QUERY = `{file: {"path": module["package"].path, "heads": heads} |
	module := rego.parse_module(file, input[file])
	heads := [object.filter(rule.head, ["ref", "args"]) | rule := object.get(module, "rules", [])[_]]
}`
const PIECES = ['\n', ' ', '{', '}', '#', '"', '[', ']', '(', ')', '=', ' := ', ' else ', ' if ', '.', '`']
const WORDS = [' contains ', ' default ', ' x ', ' in ', ' not ', 'q := 1\n', '\tq if true\n', '\nq if true']

interface OpaModule {
  readonly path: readonly { readonly value: string }[]
  readonly heads: readonly {
    readonly ref: readonly { type: string; value: unknown }[]
    readonly args?: unknown
  }[]
}

function policyTexts(): string[] {
  return readdirSync('policies', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.rego'))
    .map((name) => readFileSync(join('policies', name), 'utf8'))
}

/**
 * The texts with up to three lines left out, joined or moved, or letters added and removed,
 * anywhere.
 */
function damaged(texts: readonly string[], count: number): string[] {
  const random = seededRandom(7)
  const below = (limit: number): number => Math.floor(random() * limit)
  const pick = (from: readonly string[]): string => from[below(from.length)] ?? ''
  const lines = texts.flatMap((text) => text.split('\n'))
  const damage = (text: string): string => {
    const at = below(text.length)
    const end = text.indexOf('\n', at) + 1 || text.length
    const kinds = [
      () => text.slice(0, at) + pick([...PIECES, ...WORDS]) + text.slice(at),
      () => text.slice(0, at) + text.slice(at + 1 + below(3)),
      () => text.slice(0, end - 1) + ' ' + text.slice(end),
      () => text.slice(0, end) + pick(lines) + '\n' + text.slice(end),
      () => text.slice(0, at) + text.slice(end),
    ]
    return kinds[below(kinds.length)]?.() ?? text
  }
  return Array.from({ length: count }, () =>
    Array.from({ length: 1 + below(3) }).reduce<string>(damage, pick(texts)),
  )
}

async function parsedByOpa(texts: readonly string[], version: RegoVersion): Promise<Map<number, OpaModule>> {
  const input = JSON.stringify(Object.fromEntries(texts.map((text, place) => [String(place), text])))
  // `rego.parse_module` of OPA 1.x reads version 1 alone; that of npm's copy is older.
  const opa = await findOpa({ env: version === 0 ? {} : process.env })
  const args = ['eval', '--format', 'json', '--stdin-input', RULES_QUERY]
  const run = await runOpa(opa, args, { stdin: input })
  const answer = JSON.parse(run.stdout) as {
    result: { expressions: { value: Record<string, OpaModule> }[] }[]
  }
  const found = Object.entries(answer.result[0]?.expressions[0]?.value ?? {})
  return new Map(found.map(([place, module]) => [Number(place), module]))
}

/** A rule's path up to the first non-string, and whether it is a function. */
function outline({ path, heads }: OpaModule): unknown {
  const rules = heads.map(({ ref, args }) => [
    ref.map(({ type, value }, at) => (at === 0 || type === 'string' ? value : type)),
    args !== undefined,
  ])
  return [path.slice(1).map(({ value }) => value), rules]
}

function outlineOf({ packagePath, rules }: RegoModule): unknown {
  return [packagePath, rules.map(({ path, isFunction }) => [path, isFunction])]
}

test.each([
  ['version 1', policyTexts(), 1, 80],
  ['version 0', [OLDER], 0, 30],
] as const)(
  'a module of %s that is read without OPA has the rules that OPA finds in it, however it was damaged',
  async (_, whole, version, least) => {
    const texts = [...whole, ...damaged(whole, 500)]
    const parsed = await parsedByOpa(texts, version)
    const read = texts.flatMap((text, place) => {
      const [module, expected] = [readPlainModule({ file: 'a.rego', text }, version), parsed.get(place)]
      return module === undefined || expected === undefined ? [] : [{ text, module, expected }]
    })
    for (const { text, module, expected } of read)
      expect({ text, rules: outlineOf(module) }).toEqual({ text, rules: outline(expected) })
    expect(read.length).toBeGreaterThan(least)
  },
)

test.each([
  ['a rule behind another on its line', 'package a\np if { true } q if { true }\n'],
  ['a rule that is indented', 'package a\n\np := 1\n\tq := 2\n'],
  ['a value that goes on in the next line', 'package a\np := 1 +\n2\n'],
  ['a key that is a variable', 'package a\np[x] := 1 if { some x in input }\n'],
  ['a template string', 'package a\np := $"a {input.x} b"\n'],
  ['two bodies', 'package a\np if { true } { false }\n'],
  ['another letter', 'package a\npé := 1\n'],
])('%s is left to OPA', (_, text) => {
  expect(readPlainModule({ file: 'a.rego', text }, 1)).toBeUndefined()
})

test('what is no Rego is told of all files, though the compiler tells of the first alone', async () => {
  const files = {
    'a.rego': 'package a\np if { x := }\n',
    'b.rego': 'package b\nq if { y := }\n',
    'c.rego': OLDER,
  }
  const raw: unknown = await loadPolicies(files).catch((error: unknown) => error)
  if (!(raw instanceof AppError)) throw new Error('it was compiled')
  const told = raw.details.map(({ code, location }) => `${code} ${location?.file.split('/').at(-1)}`)
  expect(new Set(told)).toEqual(new Set(['rego_parse_error a.rego', 'rego_parse_error b.rego']))
})

test('files of equal names are refused, because one would replace the other', async () => {
  const files = ['x := 1', 'x := 2'].map((rule) => ({ file: 'main/a.rego', text: `package a\n\n${rule}\n` }))
  await expect(findOpa({ env: process.env }).then((opa) => readModules(opa, files))).rejects.toThrow(
    /two files of the policies are named main\/a\.rego/,
  )
})
