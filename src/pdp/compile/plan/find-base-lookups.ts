import type { RuleNode, Step } from '../../rego/rule-tree.js'
import { nextNodes } from './loses-rules.js'
import { blocksOf, localOf, stringOf } from './read-plan.js'
import type { Plan, PlannedFunction, Statement } from './read-plan.js'

/** The local with all base documents. */
const DATA = 1

/** A lookup in base documents, by its last key. */
export interface BaseLookup {
  readonly statement: Statement
  readonly path: readonly Step[]
}

/**
 * The lookups of a function by a variable that go to base documents alone, though rules are there: OPA's compiler gives the rules up where they have names of
 * another length than the lookup. A lookup next to a call by name is for what has no rules. `with` on `data` takes rules away, so what is below it is left out.
 */
export function findBaseLookups(
  { strings }: Plan,
  { isBelowWith, blocks }: PlannedFunction,
  rules: RuleNode,
): BaseLookup[] {
  if (isBelowWith) return []
  const lookups = new Map<number, BaseLookup>()
  const continued = new Set<number>()
  const visit = (statement: Statement): void => {
    const { type, stmt } = statement
    const [source, target] = [localOf(stmt['source']), localOf(stmt['target'])]
    if (type === 'DotStmt' && source !== undefined && target !== undefined) {
      const above = source === DATA ? [] : lookups.get(source)?.path
      continued.add(source)
      if (above !== undefined)
        lookups.set(target, { statement, path: [...above, stringOf(stmt['key'], strings)] })
    }
    if (type === 'WithStmt' && localOf(stmt['local']) === DATA) return
    const inner = blocksOf(statement)
    if (inner.some(({ stmts }) => stmts.some((one) => one.type === 'CallDynamicStmt'))) return
    for (const { stmts } of inner) for (const one of stmts) visit(one)
  }
  for (const { stmts } of blocks) for (const one of stmts) visit(one)
  return [...lookups].flatMap(([local, lookup]) =>
    !continued.has(local) && lookup.path.includes(undefined) && isOfRules(rules, lookup.path) ? [lookup] : [],
  )
}

function isOfRules(rules: RuleNode, path: readonly Step[]): boolean {
  let nodes: readonly RuleNode[] = [rules]
  for (const step of path) {
    if (nodes.some(({ isRule }) => isRule)) return true
    nodes = nextNodes(nodes, step)
  }
  return nodes.length > 0
}
