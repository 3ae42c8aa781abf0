import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { PROJECT_ROOT } from '../project-root.js'

interface Repetition {
  readonly repeat: string
  readonly times: number
  readonly before?: string
  readonly after?: string | Repetition
}

type Generator =
  | Repetition
  | { readonly array: number; readonly of: unknown; readonly distinct?: boolean }
  | { readonly object: number; readonly of: unknown }
  | { readonly nest: number }
  | { readonly chain: number }
  | { readonly ladder: number }
  | { readonly copies: number }

/** A policy that exceeds limits, and its input. */
const EvilRow = z.strictObject({
  name: z.string(),
  /** The body of a deny rule that holds in OPA, if not for the work: never an allow. */
  deny: z.string(),
  /**
   * Calls of the deny rule: a rule repeated with the numbers of its level and of the next, and the
   * last one.
   */
  levels: z.strictObject({ count: z.number(), rule: z.string(), last: z.string() }).optional(),
  /** `input.x`, with generators in it. */
  x: z.json().optional(),
})
export type EvilRow = z.infer<typeof EvilRow>

/**
 * The rows of `test/cases/evil`: one for each built-in that takes a text or a collection, and
 * policies of all sorts.
 */
export function readEvilRows(): EvilRow[] {
  return ['builtins.json', 'policies.json'].flatMap((file) =>
    z.array(EvilRow).parse(JSON.parse(readFileSync(join(PROJECT_ROOT, 'test/cases/evil', file), 'utf8'))),
  )
}

/** A module of its own for a row. */
export function evilModule(packageName: string, { deny, levels }: EvilRow): string {
  const head = `package rules.${packageName}\n\nimport rego.v1\n\n`
  const rules = Array.from({ length: levels?.count ?? 0 }, (_, level) =>
    levels?.rule.replaceAll('LEVEL', String(level)).replaceAll('NEXT', String(level + 1)),
  )
  return `${head}deny contains "denied" if {\n\t${deny}\n}\n\n${[...rules, levels?.last].join('\n\n')}\n`
}

/**
 * The JSON text of a description in a row: long strings, wide and deep collections. It is built as
 * text, because printing such deep nesting overflows the stack.
 */
export function generateJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(generateJson).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (isGenerator(value)) return run(value)
  return objectOf(Object.entries(value).map(([key, member]) => [key, generateJson(member)]))
}

function isGenerator(value: object): value is Generator {
  return ['repeat', 'array', 'object', 'nest', 'chain', 'ladder', 'copies'].some((name) => name in value)
}

function run(generator: Generator): string {
  if ('repeat' in generator) return JSON.stringify(textOf(generator))
  if ('array' in generator) {
    const { array, of, distinct = false } = generator
    const member = generateJson(of)
    const members = Array.from({ length: array }, (_, i) =>
      distinct ? JSON.stringify(`${String(of)}${i}`) : member,
    )
    return `[${members.join()}]`
  }
  if ('object' in generator) {
    const member = generateJson(generator.of)
    return objectOf(Array.from({ length: generator.object }, (_, i) => [`k${i}`, member]))
  }
  if ('nest' in generator) return `${'['.repeat(generator.nest)}1${']'.repeat(generator.nest)}`
  if ('chain' in generator) {
    return objectOf(Array.from({ length: generator.chain }, (_, i) => [`k${i}`, `["k${i + 1}"]`]))
  }
  if ('ladder' in generator) return ladder(generator.ladder)
  return `[${Array.from({ length: generator.copies }, () => '{"op":"copy","from":"/a","path":"/a/0"}').join()}]`
}

function textOf({ repeat, times, before = '', after = '' }: Repetition): string {
  return `${before}${repeat.repeat(times)}${typeof after === 'string' ? after : textOf(after)}`
}

function objectOf(members: readonly (readonly [string, string])[]): string {
  return `{${members.map(([key, json]) => `${JSON.stringify(key)}:${json}`).join()}}`
}

function ladder(rungs: number): string {
  return objectOf(
    Array.from({ length: rungs }, (_, i) => `["a${i + 1}","b${i + 1}"]`).flatMap((next, i) => [
      [`a${i}`, next],
      [`b${i}`, next],
    ]),
  )
}
