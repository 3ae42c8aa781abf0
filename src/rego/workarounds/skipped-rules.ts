import type { RegoModule } from '../modules/rego-module.js'
import { applyEdits, rewriteModules } from '../modules/rewrite-modules.js'
import type { Edit } from '../modules/rewrite-modules.js'
import { closingOf, endOfExpression } from '../modules/tokens/expressions.js'
import { moduleKeywords } from '../modules/tokens/module-keywords.js'
import { readImports } from '../modules/tokens/read-imports.js'
import { isMember, isOpening, readTokens, stringValue, touches } from '../modules/tokens/read-tokens.js'
import type { Token } from '../modules/tokens/read-tokens.js'
import { findTemplateStrings, withoutTemplates } from '../modules/tokens/template-strings.js'
import { addRule, matchingNodes, newRuleNode } from '../values/rule-tree.js'
import type { RuleNode, Step } from '../values/rule-tree.js'

/** A reference into `data`. */
interface DataReference {
  /** The keys below `data`, those of an import included. */
  readonly steps: readonly Step[]
  /** Index of the first step that is a number or `_`. From there on OPA evaluates all rules. */
  readonly known: number
  /** The token index after each step that the text contains. */
  readonly ends: readonly number[]
}

/**
 * Splits lookups of rules by a variable into two steps: `[data.apps[input.app].lim][0][input.env]`
 * for `data.apps[input.app].lim[input.env]`.
 *
 * Fault: code compiled to WebAssembly skips rules if some packages have `lim[k] := v` and others
 * have `lim.prod := 1`. The planner (`optimizeLookup`) stops at the first kind before the last key.
 * Versions: 0.70 and 1.x up to 1.20.2. Version 0.70 also skips `lim := {…}` next to
 * `lim.prod := 1`.
 * Upstream: related to open-policy-agent/opa#7399 and #5839.
 *
 * Also splits lookups by a variable that may find a function: `[data.rules][0][_].deny` for
 * `data.rules[_].deny` if `data.rules` has functions.
 *
 * Fault: the planner calls such a function without its arguments, so that the code is not valid.
 * Versions: 0.70 and 1.x up to 1.20.2.
 *
 * Lines stay, columns after a lookup do not. Returns the given array if there is no such lookup.
 */
export async function splitLookups(
  modules: readonly RegoModule[],
  isOlder: boolean,
): Promise<readonly RegoModule[]> {
  // Rules of one name without keys are never skipped.
  const isAffected = modules.some(({ rules }) =>
    rules.some(({ path, isDynamic, isFunction }) => isDynamic || isFunction || (isOlder && path.length > 1)),
  )
  if (!isAffected) return modules
  const root = newRuleNode()
  for (const { packagePath, rules } of modules)
    for (const { path, isDynamic, isFunction } of rules)
      addRule(root, packagePath, path, isDynamic, isFunction)
  return await rewriteModules(modules, (module) => splitIn(module, root, isOlder))
}

function splitIn(
  { text: source, version, packagePath }: RegoModule,
  root: RuleNode,
  isOlder: boolean,
): string {
  const own = [...(matchingNodes(root, packagePath)[0]?.children ?? [])].filter(([, { isRule }]) => !isRule)
  if (!source.includes('[') || (own.length === 0 && !/\bdata\b/.test(source))) return source
  const { tokens } = readTokens(withoutTemplates(source, findTemplateStrings(source)))
  const imports = readImports(tokens)
  const negated = negatedOperands(tokens, moduleKeywords(version, imports, []))
  const roots = new Map<string, readonly string[]>([
    ...own.map(([name]) => [name, [...packagePath, name]] as const),
    ...imports
      .filter(({ path }) => path[0] === 'data')
      .map(({ path, name }) => [name, path.slice(1)] as const),
    ['data', []] as const,
  ])
  const edits: Edit[] = []
  for (const [at, { kind, text, offset }] of tokens.entries()) {
    const above = kind === 'name' && !isMember(tokens, at) && !negated.has(at) ? roots.get(text) : undefined
    const reference = above === undefined ? undefined : readReference(tokens, at, above)
    const cut = reference === undefined ? 0 : findCut(root, reference, isOlder)
    const last = tokens[(reference?.ends[cut - 1 - (above?.length ?? 0)] ?? 0) - 1]
    if (cut === 0 || last === undefined) continue
    edits.push({ at: offset, length: 0, text: '[' })
    edits.push({ at: last.offset + last.text.length, length: 0, text: '][0]' })
  }
  return applyEdits(source, edits)
}

/**
 * Returns the indices of tokens that are operands of a negation, whose lookups stay as they are.
 * OPA evaluates an array in such an operand before the negation, so a lookup in it has to be
 * defined. OPA does the same with the contents of brackets other than parentheses, and leaves
 * comprehensions in them expressions of their own.
 */
function negatedOperands(tokens: readonly Token[], keywords: ReadonlySet<string>): ReadonlySet<number> {
  const negated = new Set<number>()
  for (const [at, { kind, text }] of tokens.entries()) {
    if (kind !== 'name' || text !== 'not' || isMember(tokens, at)) continue
    const end = endOfExpression(tokens, at + 1, keywords)
    for (let index = at + 1; index < end; index += 1) {
      const sign = tokens[index]?.text ?? ''
      const isCall = touches(tokens, index) && tokens[index - 1]?.kind === 'name'
      const isGroup = sign === '(' && !isCall
      const isKey = sign === '[' && touches(tokens, index)
      if (isOpening(sign) && !isGroup && !isKey) index = closingOf(tokens, index)
      else negated.add(index)
    }
  }
  return negated
}

/** Undefined for a call. */
function readReference(
  tokens: readonly Token[],
  start: number,
  above: readonly string[],
): DataReference | undefined {
  const steps: Step[] = [...above]
  const ends: number[] = []
  let known = Infinity
  let at = start + 1
  for (let sign = tokens[at]; sign !== undefined && touches(tokens, at); sign = tokens[at]) {
    const key = tokens[at + 1]
    if (sign.text === '(' || key === undefined) return undefined
    if (sign.text !== '.' && sign.text !== '[') break
    const end = sign.text === '.' ? at + 2 : closingOf(tokens, at) + 1
    const isOne = sign.text === '.' || end === at + 3
    if (isOne && (key.kind === 'number' || key.text === '_')) known = Math.min(known, steps.length)
    const isFixed = isOne && (sign.text === '.' || key.kind !== 'name')
    const text = key.kind === 'string' ? stringValue(key) : key.text
    steps.push(isFixed ? text : undefined)
    ends.push(end)
    at = end
  }
  // `in` iterates over one more key.
  if (tokens[start - 1]?.text === 'in') steps.push(undefined)
  return { steps, known, ends }
}

/** Returns the number of steps before OPA skips rules, or 0 if it skips none. */
function findCut(root: RuleNode, reference: DataReference, isOlder: boolean): number {
  const { steps, known } = reference
  const functions = findFunctions(root, reference)
  if (functions > 0) return functions
  // OPA 1.x does not optimize a lookup with a rule before the last key but one.
  const first = isOlder ? 1 : steps.length - 1
  for (let cut = first; cut < steps.length && cut <= known; cut += 1) {
    const nodes = matchingNodes(root, steps.slice(0, cut))
    const next = steps.slice(cut, cut + 1)
    const longer = nodes.filter((node) => !node.isRule && matchingNodes(node, next).length > 0)
    const stops =
      cut === steps.length - 1 && nodes.some(({ hasDynamicKey }) => hasDynamicKey) && longer.length > 0
    // Splitting above a package would evaluate the whole package.
    const forgets = isOlder && nodes.some(({ isRule }) => isRule) && longer.some(({ isOfRule }) => isOfRule)
    if (stops || forgets) return cut
  }
  return 0
}

/**
 * Returns the number of steps above a function that a variable of the reference may find, else 0.
 */
function findFunctions(root: RuleNode, { steps }: DataReference): number {
  const variable = steps.indexOf(undefined)
  for (let length = variable + 1; variable !== -1 && length <= steps.length; length += 1)
    if (matchingNodes(root, steps.slice(0, length)).some(({ isFunction }) => isFunction)) return length - 1
  return 0
}
