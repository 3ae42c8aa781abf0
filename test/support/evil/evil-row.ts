import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { PROJECT_ROOT } from '../project-root.js'

type Generator =
  | { readonly repeat: string; readonly times: number; readonly before?: string; readonly after?: unknown }
  | { readonly array: number; readonly of: unknown; readonly distinct?: boolean }
  | { readonly object: number; readonly of: unknown }
  | { readonly nest: number }
  | { readonly chain: number }
  | { readonly ladder: number }
  | { readonly copies: number }

/** A policy that asks for more than anybody may have, and what it is asked with. */
const EvilRow = z.strictObject({
  name: z.string(),
  /** The body of a deny rule that holds in OPA, if not for the work: never an allow. */
  deny: z.string(),
  /** `input.x`, with generators in it. */
  x: z.json().optional(),
})
export type EvilRow = z.infer<typeof EvilRow>

/** The rows of `test/cases/evil`: one for each built-in that takes a text or a collection, and policies of all sorts. */
export function readEvilRows(): EvilRow[] {
  return ['builtins.json', 'policies.json'].flatMap((file) =>
    z.array(EvilRow).parse(JSON.parse(readFileSync(join(PROJECT_ROOT, 'test/cases/evil', file), 'utf8'))),
  )
}

/** A module of its own for a row. */
export function evilModule(packageName: string, { deny }: EvilRow): string {
  return `package rules.${packageName}\n\nimport rego.v1\n\ndeny contains "denied" if {\n\t${deny}\n}\n`
}

/** What a description in a row stands for: long texts, wide and deep collections. */
export function generate(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(generate)
  if (typeof value !== 'object' || value === null) return value
  if (isGenerator(value)) return run(value)
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, generate(member)]))
}

function isGenerator(value: object): value is Generator {
  return ['repeat', 'array', 'object', 'nest', 'chain', 'ladder', 'copies'].some((name) => name in value)
}

function run(generator: Generator): unknown {
  if ('repeat' in generator) {
    const { repeat, times, before = '', after = '' } = generator
    return `${before}${repeat.repeat(times)}${String(generate(after))}`
  }
  if ('array' in generator) {
    const member = generate(generator.of)
    const { array, distinct = false } = generator
    return Array.from({ length: array }, (_, i) => (distinct ? `${String(member)}${i}` : member))
  }
  if ('object' in generator) {
    const member = generate(generator.of)
    return Object.fromEntries(Array.from({ length: generator.object }, (_, i) => [`k${i}`, member]))
  }
  if ('nest' in generator) return nested(generator.nest)
  if ('chain' in generator) {
    return Object.fromEntries(Array.from({ length: generator.chain }, (_, i) => [`k${i}`, [`k${i + 1}`]]))
  }
  if ('ladder' in generator) return ladder(generator.ladder)
  return Array.from({ length: generator.copies }, () => ({ op: 'copy', from: '/a', path: '/a/0' }))
}

function nested(depth: number): unknown {
  let value: unknown = 1
  for (let level = 0; level < depth; level++) value = [value]
  return value
}

function ladder(rungs: number): unknown {
  return Object.fromEntries(
    Array.from({ length: rungs }, (_, i) => [`a${i + 1}`, `b${i + 1}`]).flatMap((next, i) => [
      [`a${i}`, next],
      [`b${i}`, next],
    ]),
  )
}
