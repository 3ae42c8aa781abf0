import type { RuleNode, Step } from '../../values/rule-tree.js'
import { localOf, stringOf } from './read-plan.js'
import type { Plan, Statement } from './read-plan.js'

/**
 * The path of a call by name (`CallDynamicStmt`) that leaves out rules which the lookup may be about; undefined where it finds all. The call finds the rules of
 * that very path alone: neither one above it, whose value goes on with the last keys, nor those below it, whose values make one object. `following` has
 * what is run after the statement, the innermost block first.
 */
export function losesRules(
  { strings }: Plan,
  rules: RuleNode,
  { stmt }: Statement,
  following: readonly (readonly Statement[])[],
): Step[] | undefined {
  const operands: readonly unknown[] = Array.isArray(stmt['path']) ? stmt['path'] : []
  // The first names the set of functions.
  const path = operands.slice(1).map((operand) => stringOf(operand, strings))
  const keys = keysOf(strings, localOf(stmt['result']), following.flat())
  return hasOthers(rules, path, keys) ? [...path, ...keys] : undefined
}

/** The keys that are looked up in the call's result before anything else. */
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

function hasOthers(rules: RuleNode, path: readonly Step[], keys: readonly Step[]): boolean {
  let nodes: readonly RuleNode[] = [rules]
  for (const step of path) {
    if (nodes.some(({ isRule }) => isRule)) return true
    nodes = nextNodes(nodes, step)
  }
  const below = nodes.filter(({ isRule }) => !isRule)
  return reaches(below, keys)
}

/** Whether rules may be below these documents that keys lead to. */
function reaches(nodes: readonly RuleNode[], keys: readonly Step[]): boolean {
  let reached = nodes
  for (const key of keys) {
    if (reached.some(({ isRule }) => isRule)) return true
    reached = nextNodes(reached, key)
  }
  return reached.length > 0
}

/** What a key of these documents leads to. */
export function nextNodes(nodes: readonly RuleNode[], step: Step): RuleNode[] {
  return nodes.flatMap(({ children }) =>
    step === undefined ? [...children.values()] : [children.get(step) ?? []].flat(),
  )
}
