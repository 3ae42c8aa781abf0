import type { RuleNode, Step } from '../../values/rule-tree.js'
import { nextNodes } from './loses-rules.js'
import { blocksOf, localOf, stringOf } from './read-plan.js'
import type { Block, Plan, PlannedFunction, Statement } from './read-plan.js'

/** The local with all base documents. */
const DATA = 1

/** The step of a lookup by a number that the policy writes: names of rules are strings, so it leads to none of them. */
const NUMBER_STEP = '(number)'

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
  // Each definition of a rule has a block, and the blocks share numbers of locals.
  return blocks.flatMap((block) =>
    lookupsIn(block, strings).filter(({ path }) => path.includes(undefined) && isOfRules(rules, path)),
  )
}

/** The lookups in base documents of a block. */
function lookupsIn(block: Block, strings: readonly string[]): BaseLookup[] {
  const lookups = new Map<number, BaseLookup>()
  const continued = new Set<number>()
  const numbers = new Set<number | undefined>()
  const visit = (statement: Statement): void => {
    const { type, stmt } = statement
    const [source, target] = [localOf(stmt['source']), localOf(stmt['target'])]
    if (type === 'MakeNumberRefStmt' || type === 'MakeNumberIntStmt') numbers.add(target)
    if (type === 'DotStmt' && source !== undefined && target !== undefined) {
      const above = source === DATA ? [] : lookups.get(source)?.path
      continued.add(source)
      const key = localOf(stmt['key'])
      const step = key !== undefined && numbers.has(key) ? NUMBER_STEP : stringOf(stmt['key'], strings)
      if (above !== undefined) lookups.set(target, { statement, path: [...above, step] })
    }
    if (type === 'WithStmt' && localOf(stmt['local']) === DATA) return
    const inner = blocksOf(statement)
    if (inner.some(({ stmts }) => stmts.some((one) => one.type === 'CallDynamicStmt'))) return
    for (const { stmts } of inner) for (const one of stmts) visit(one)
  }
  for (const one of block.stmts) visit(one)
  return [...lookups].flatMap(([local, lookup]) => (continued.has(local) ? [] : [lookup]))
}

function isOfRules(rules: RuleNode, path: readonly Step[]): boolean {
  let nodes: readonly RuleNode[] = [rules]
  for (const step of path) {
    if (nodes.some(({ isRule }) => isRule)) return true
    nodes = nextNodes(nodes, step)
  }
  return nodes.length > 0
}
