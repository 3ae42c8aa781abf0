import { z } from 'zod'

import type { OpaProgram } from '../../src/rego/opa/find-opa.js'
import { regoVersionFlags } from '../../src/rego/opa/opa-release.js'
import { runOpa } from '../../src/rego/opa/run-opa.js'

const PARSE = '{name: module | module := rego.parse_module(name, input[name])}'
const Answer = z.object({
  result: z.array(z.object({ expressions: z.array(z.object({ value: z.record(z.string(), z.unknown()) })) })),
})
const Term = z.object({ type: z.string(), value: z.unknown() })
const Ref = z.object({ type: z.literal('ref'), value: z.array(Term).min(1) })
const Imports = z.object({
  imports: z.array(z.object({ path: Ref, alias: z.string().optional() })).default([]),
  rules: z.array(z.unknown()).default([]),
})

/**
 * The paths below `data` that each module refers to outside its imports, as OPA's own parser sees
 * them: `a.b`, sorted, each as often as it is written. Undefined when one of the modules does not
 * parse.
 */
export async function referencedPaths(
  opa: OpaProgram,
  modules: Readonly<Record<string, string>>,
): Promise<ReadonlyMap<string, string[]> | undefined> {
  const version = await regoVersionFlags(opa, 0)
  const run = await runOpa(opa, ['eval', '--format', 'json', '--stdin-input', ...version, PARSE], {
    stdin: JSON.stringify(modules),
  })
  if (run.exitCode !== 0) return undefined
  const trees = Answer.parse(JSON.parse(run.stdout)).result[0]?.expressions[0]?.value ?? {}
  return new Map(Object.entries(trees).map(([name, tree]) => [name, pathsIn(tree)]))
}

function pathsIn(tree: unknown): string[] {
  const { imports, rules } = Imports.parse(tree)
  const bases = new Map<unknown, readonly unknown[]>([['data', []]])
  for (const { path, alias } of imports) {
    const [root, ...segments] = path.value.map(({ value }) => value)
    if (root === 'data') bases.set(alias ?? segments.at(-1), segments)
  }
  const paths: string[] = []
  for (const rule of rules) {
    walk(rule, (node) => {
      const ref = Ref.safeParse(node)
      if (!ref.success) return
      const [head, ...members] = ref.data.value
      const base = head?.type === 'var' ? bases.get(head.value) : undefined
      if (base === undefined) return
      const dynamic = members.findIndex(({ type }) => type !== 'string' && type !== 'number')
      const fixed = dynamic === -1 ? members : members.slice(0, dynamic)
      paths.push([...base, ...fixed.map(({ value }) => value)].join('.'))
    })
  }
  return paths.filter((path) => path !== '').sort()
}

function walk(node: unknown, visit: (node: unknown) => void): void {
  visit(node)
  if (typeof node === 'object' && node !== null) for (const child of Object.values(node)) walk(child, visit)
}
