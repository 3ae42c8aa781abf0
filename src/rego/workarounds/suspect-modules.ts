import { addRule, matchingNodes, newRuleNode } from '../values/rule-tree.js'
import type { RuleNode, Step } from '../values/rule-tree.js'
import { codeOnly } from '../modules/tokens/not-code.js'
import type { RegoModule, RegoRule } from '../modules/rego-module.js'
import { closingOf } from '../modules/tokens/expressions.js'
import { readImports } from '../modules/tokens/read-imports.js'
import { isMember, readTokens, stringValue, touches } from '../modules/tokens/read-tokens.js'
import type { Token } from '../modules/tokens/read-tokens.js'

/** A negated body, whose result may be that of another iteration. */
const NEGATED_BODIES = /\bfuture\b(?!\.keywords\.(?!not\b))[^]*\bnot\b/
/** A unification of two collections, which may have a variable on both sides. */
const BOTH_SIDES = /[\])}]\s*=(?!=)\s*[[({]|\beq\s*\(/
const TEMPLATE = /\$["`]/
/** Tokens before the domain of an iteration, which adds an unwritten variable key. */
const BEFORE_DOMAIN = ['in', '(']

/** Returns all rules of modules by path, without functions, which are never looked up. */
export function ruleTree(modules: readonly RegoModule[]): RuleNode {
  return treeOf(modules, ({ isFunction }) => !isFunction)
}

function treeOf(modules: readonly RegoModule[], isIncluded: (rule: RegoRule) => boolean): RuleNode {
  const root = newRuleNode()
  for (const { packagePath, rules } of modules)
    for (const rule of rules)
      if (isIncluded(rule)) addRule(root, packagePath, rule.path, rule.isDynamic, rule.isFunction)
  return root
}

/** Returns the modules that `mayLose` is true for. */
export function suspectModules(modules: readonly RegoModule[]): RegoModule[] {
  const all = treeOf(modules, () => true)
  return modules.filter((module) => mayLose(module, all))
}

/**
 * True if the module may have an expression that OPA compiles wrongly: a lookup of rules by a
 * variable, a negation of `walk` or of a body, or a unification of two collections. Only such
 * modules are planned, since planning a module takes as long as compiling it.
 */
function mayLose({ text, packagePath }: RegoModule, rules: RuleNode): boolean {
  const hasTemplates = TEMPLATE.test(text)
  const code = hasTemplates ? text : codeOnly(text)
  if (BOTH_SIDES.test(code) || (/\bwalk\b/.test(code) && /\bnot\b/.test(code))) return true
  if (NEGATED_BODIES.test(code)) return true
  if (!/\[|\bin\b/.test(code)) return false
  const own = [...(matchingNodes(rules, packagePath)[0]?.children ?? [])].filter(([, { isRule }]) => !isRule)
  if (own.length === 0 && !/\bdata\b/.test(code)) return false
  // The tokens leave out the expressions of template strings.
  if (hasTemplates) return true
  const { tokens } = readTokens(text)
  const imports = readImports(tokens).filter(({ path }) => path[0] === 'data')
  const roots = new Map<string, readonly string[]>([
    ...own.map(([name]) => [name, [...packagePath, name]] as const),
    ...imports.map(({ path, name }) => [name, path.slice(1)] as const),
    ['data', []] as const,
  ])
  return tokens.some(({ kind, text: word }, at) => {
    const above = kind === 'name' && !isMember(tokens, at) ? roots.get(word) : undefined
    return above !== undefined && looksUpRules(tokens, at, above, rules)
  })
}

/** True if the first variable key of a reference is above rules. */
function looksUpRules(
  tokens: readonly Token[],
  start: number,
  above: readonly string[],
  rules: RuleNode,
): boolean {
  const steps: string[] = [...above]
  let at = start + 1
  for (let sign = tokens[at]; sign !== undefined && touches(tokens, at); sign = tokens[at]) {
    const step = stepAt(tokens, at)
    if (step === 'none') break
    if (step === undefined) return hasRulesBelow(rules, steps)
    steps.push(step.key)
    at = step.end
  }
  const isDomain = BEFORE_DOMAIN.includes(tokens[start - 1]?.text ?? '')
  return isDomain && hasRulesBelow(rules, steps)
}

/** Returns a constant key and the index after it, undefined for a variable key, or `none`. */
function stepAt(
  tokens: readonly Token[],
  at: number,
): { readonly key: string; readonly end: number } | 'none' | undefined {
  const [sign, key] = [tokens[at], tokens[at + 1]]
  if (sign?.text === '.' && key !== undefined) return { key: key.text, end: at + 2 }
  if (sign?.text !== '[') return 'none'
  const end = closingOf(tokens, at) + 1
  const text = end === at + 3 && key?.kind === 'string' ? stringValue(key) : undefined
  return text === undefined ? undefined : { key: text, end }
}

function hasRulesBelow(rules: RuleNode, steps: readonly Step[]): boolean {
  return matchingNodes(rules, steps).some(({ children }) => children.size > 0)
}
