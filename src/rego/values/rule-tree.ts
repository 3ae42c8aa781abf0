/** A key of a reference; undefined for a variable. */
export type Step = string | undefined

/** Rules by path below `data`, as in OPA's planner. A rule has no children. */
export interface RuleNode {
  readonly children: Map<string, RuleNode>
  isRule: boolean
  isFunction: boolean
  /** True for a step of a rule's reference after its package. */
  isOfRule: boolean
  /** True if a variable follows the path of one of its rules. */
  hasDynamicKey: boolean
}

export function newRuleNode(): RuleNode {
  return { children: new Map(), isRule: false, isFunction: false, isOfRule: false, hasDynamicKey: false }
}

export function addRule(
  root: RuleNode,
  packagePath: readonly string[],
  path: readonly string[],
  isDynamic: boolean,
  isFunction = false,
): void {
  let node = root
  for (const [place, key] of [...packagePath, ...path].entries()) {
    if (node.isRule) break
    const child = node.children.get(key) ?? newRuleNode()
    node.children.set(key, child)
    node = child
    node.isOfRule ||= place >= packagePath.length
  }
  node.isRule = true
  node.isFunction ||= isFunction
  node.hasDynamicKey ||= isDynamic || hasDynamic(node)
  node.children.clear()
}

function hasDynamic({ children }: RuleNode): boolean {
  return [...children.values()].some((child) => child.hasDynamicKey || hasDynamic(child))
}

/** Returns the nodes that steps lead to; none if a rule is above their end. */
export function matchingNodes(root: RuleNode, steps: readonly Step[]): RuleNode[] {
  let nodes = [root]
  for (const step of steps) {
    if (nodes.some(({ isRule }) => isRule)) return []
    nodes = nextNodes(nodes, step)
  }
  return nodes
}

/** Returns the children of some nodes by a key, or all children for an unknown key. */
export function nextNodes(nodes: readonly RuleNode[], step: Step): RuleNode[] {
  return nodes.flatMap(({ children }) =>
    step === undefined ? [...children.values()] : [children.get(step) ?? []].flat(),
  )
}
