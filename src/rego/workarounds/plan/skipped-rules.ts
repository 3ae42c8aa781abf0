import { nextNodes } from '../../values/rule-tree.js'
import type { RuleNode, Step } from '../../values/rule-tree.js'
import { blocksOf, localOf, stringOf } from './read-plan.js'
import type { Block, Plan, PlannedFunction, Statement } from './read-plan.js'

/** The local with all base documents. */
const DATA = 1

/** The step of a lookup by a constant number. Rule names are strings, so it reaches no rule. */
const NUMBER_STEP = '(number)'

/** A lookup in base documents, by its last key. */
export interface BaseLookup {
  readonly statement: Statement
  readonly path: readonly Step[]
}

/**
 * Returns the lookups of a function by a variable that read base documents only, though rules
 * match. OPA's planner drops rules whose references are longer or shorter than the lookup. A lookup
 * next to a call by name covers paths without rules and is not returned, nor is one below `with` on
 * `data`, which hides rules.
 */
export function findBaseLookups(
  { strings }: Plan,
  { isBelowWith, blocks }: PlannedFunction,
  rules: RuleNode,
): BaseLookup[] {
  if (isBelowWith) return []
  // Each definition of a rule has a block, and blocks reuse the numbers of locals.
  return blocks.flatMap((block) =>
    lookupsIn(block, strings).filter(({ path }) => path.includes(undefined) && matchesRules(rules, path)),
  )
}

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

/**
 * Returns the path of a call by name (`CallDynamicStmt`) that skips rules which match the lookup;
 * undefined if it skips none. The call evaluates the rules of that exact path. It skips a rule
 * above the path, whose value has the last keys, and rules below it, which together are one object.
 * `following` are the statements after the call, those of the innermost block first.
 */
export function skippedByCall(
  { strings }: Plan,
  rules: RuleNode,
  { stmt }: Statement,
  following: readonly (readonly Statement[])[],
): Step[] | undefined {
  const operands: readonly unknown[] = Array.isArray(stmt['path']) ? stmt['path'] : []
  // The first operand names the group of functions.
  const path = operands.slice(1).map((operand) => stringOf(operand, strings))
  const keys = keysOf(strings, localOf(stmt['result']), following.flat())
  return matchesOthers(rules, path, keys) ? [...path, ...keys] : undefined
}

/** Returns the keys that the following statements look up in the result of a call. */
function keysOf(
  strings: readonly string[],
  result: number | undefined,
  following: readonly Statement[],
): Step[] {
  const keys: Step[] = []
  let local = result
  for (const { type, stmt } of following) {
    if (type !== 'DotStmt' || local === undefined || localOf(stmt['source']) !== local) continue
    keys.push(stringOf(stmt['key'], strings))
    local = localOf(stmt['target'])
  }
  return keys
}

function matchesOthers(rules: RuleNode, path: readonly Step[], keys: readonly Step[]): boolean {
  let nodes: readonly RuleNode[] = [rules]
  for (const step of path) {
    if (nodes.some(({ isRule }) => isRule)) return true
    nodes = nextNodes(nodes, step)
  }
  return nodes.some((node) => !node.isRule && matchesRules(node, keys))
}

/** True if steps below a document lead to a rule or to a document with rules. */
function matchesRules(root: RuleNode, steps: readonly Step[]): boolean {
  let nodes: readonly RuleNode[] = [root]
  for (const step of steps) {
    if (nodes.some(({ isRule }) => isRule)) return true
    nodes = nextNodes(nodes, step)
  }
  return nodes.length > 0
}
