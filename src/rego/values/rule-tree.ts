/** A key of a reference; undefined for one that is not known before it is evaluated. */
export type Step = string | undefined

/** Rules by their paths below `data`, as OPA's planner has them: what is below a rule is told with it. */
export interface RuleNode {
  readonly children: Map<string, RuleNode>
  isRule: boolean
  isFunction: boolean
  /** Whether it stands in the reference of a rule, behind its package. */
  isOfRule: boolean
  /** Whether the reference of one of its rules goes on with a variable. */
  goesOn: boolean
}

export function newRuleNode(): RuleNode {
  return { children: new Map(), isRule: false, isFunction: false, isOfRule: false, goesOn: false }
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
  node.goesOn ||= isDynamic || hasDynamic(node)
  node.children.clear()
}

function hasDynamic({ children }: RuleNode): boolean {
  return [...children.values()].some((child) => child.goesOn || hasDynamic(child))
}

/** What some steps lead to; none where a rule stands before their end. */
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
