import { ShortTurns } from '../../lib/turns/short-turns.js'
import { withoutTemplates } from './order-modifiers.js'
import type { RegoModule } from './rego-module.js'
import { addRule, matchingNodes, newRuleNode } from '../values/rule-tree.js'
import type { RuleNode, Step } from '../values/rule-tree.js'
import { closingOf, endOfExpression } from './tokens/expressions.js'
import { moduleKeywords } from './tokens/module-keywords.js'
import { readImports } from './tokens/read-imports.js'
import { isMember, isOpening, readTokens, stringValue, touches } from './tokens/read-tokens.js'
import type { Token } from './tokens/read-tokens.js'
import { findTemplateStrings } from './tokens/template-strings.js'

/** A reference into `data`: its steps, those of an import included, and the places behind those that are written. */
interface DataReference {
  readonly steps: readonly Step[]
  /** How many steps there are before a number, or a variable that stands for all: with one of these OPA looks at all. */
  readonly known: number
  readonly ends: readonly number[]
}

/**
 * The modules with lookups by a variable in two steps where OPA's compiler to WebAssembly (up to OPA 1.20) leaves rules out: before the last key of
 * `data.apps[input.app].lim[input.env]` it stops at packages with `lim[k] := v`, and forgets those with `lim.prod := 1` (`optimizeLookup`). Two steps make it
 * look at all. Rows stay as they are. The very same modules where there is none.
 */
export async function splitLookups(
  modules: readonly RegoModule[],
  isOlder: boolean,
): Promise<readonly RegoModule[]> {
  // Packages whose rules all have one name leave nothing out.
  if (
    !modules.some(({ rules }) =>
      rules.some(({ path, isDynamic }) => isDynamic || (isOlder && path.length > 1)),
    )
  )
    return modules
  const turns = new ShortTurns()
  const root = newRuleNode()
  for (const { packagePath, rules } of modules)
    for (const { path, isDynamic } of rules) addRule(root, packagePath, path, isDynamic)
  const split: RegoModule[] = []
  for (const module of modules) {
    const text = splitIn(module, root, isOlder)
    split.push(text === module.text ? module : { ...module, text })
    await turns.pause()
  }
  return split.every((module, place) => module === modules[place]) ? modules : split
}

function splitIn(
  { text: source, version, packagePath }: RegoModule,
  root: RuleNode,
  isOlder: boolean,
): string {
  const own = [...(matchingNodes(root, packagePath)[0]?.children ?? [])].filter(([, { isRule }]) => !isRule)
  if (!source.includes('[') || (own.length === 0 && !/\bdata\b/.test(source))) return source
  const { tokens } = readTokens(withoutTemplates(source, findTemplateStrings(source)))
  const allImports = readImports(tokens)
  const imports = allImports.filter(({ path }) => path[0] === 'data')
  const negated = negatedOperands(tokens, moduleKeywords(version, allImports, []))
  const roots = new Map<string, readonly string[]>([
    ...own.map(([name]) => [name, [...packagePath, name]] as const),
    ...imports.map(({ path, name }) => [name, path.slice(1)] as const),
    ['data', []] as const,
  ])
  const texts = new Map<number, string>()
  for (const [at, { kind, text, offset }] of tokens.entries()) {
    const above = kind === 'name' && !isMember(tokens, at) && !negated.has(at) ? roots.get(text) : undefined
    const reference = above === undefined ? undefined : readReference(tokens, at, above)
    const cut = reference === undefined ? 0 : findCut(root, reference, isOlder)
    const last = tokens[(reference?.ends[cut - 1 - (above?.length ?? 0)] ?? 0) - 1]
    if (cut === 0 || last === undefined) continue
    const end = last.offset + last.text.length
    texts.set(offset, `${texts.get(offset) ?? ''}[`).set(end, `][0]${texts.get(end) ?? ''}`)
  }
  let out = ''
  let copied = 0
  for (const [at, text] of [...texts].toSorted(([one], [other]) => one - other)) {
    out += source.slice(copied, at) + text
    copied = at
  }
  return out + source.slice(copied)
}

/**
 * The places of tokens that are operands of a negation: OPA takes an array out of it, and what the array is made of then has to have a value. What is in
 * other brackets than parentheses is taken out as it is written, or is in an expression of its own.
 */
function negatedOperands(tokens: readonly Token[], keywords: ReadonlySet<string>): ReadonlySet<number> {
  const places = new Set<number>()
  for (const [at, { kind, text }] of tokens.entries()) {
    if (kind !== 'name' || text !== 'not' || isMember(tokens, at)) continue
    const end = endOfExpression(tokens, at + 1, keywords)
    for (let place = at + 1; place < end; place += 1) {
      const isCall = touches(tokens, place) && tokens[place - 1]?.kind === 'name'
      const isGroup = tokens[place]?.text === '(' && !isCall
      if (isOpening(tokens[place]?.text ?? '') && !isGroup && !touchesReference(tokens, place))
        place = closingOf(tokens, place)
      else places.add(place)
    }
  }
  return places
}

/** Whether a bracket belongs to the name before it, as the key of a reference. */
function touchesReference(tokens: readonly Token[], at: number): boolean {
  return tokens[at]?.text === '[' && touches(tokens, at)
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
  // An iteration goes on with a key that is not written.
  if (tokens[start - 1]?.text === 'in') steps.push(undefined)
  return { steps, known, ends }
}

/** How many steps OPA looks at before it leaves rules out; 0 where it looks at all. */
function findCut(root: RuleNode, { steps, known }: DataReference, isOlder: boolean): number {
  // OPA 1.x gives up its way of looking where a rule stands before the last key but one.
  const first = isOlder ? 1 : steps.length - 1
  for (let cut = first; cut < steps.length && cut <= known; cut += 1) {
    const nodes = matchingNodes(root, steps.slice(0, cut))
    const next = steps.slice(cut, cut + 1)
    const longer = nodes.filter((node) => !node.isRule && matchingNodes(node, next).length > 0)
    const stops = cut === steps.length - 1 && nodes.some(({ goesOn }) => goesOn) && longer.length > 0
    // OPA 0.x goes on to the longer ones, and forgets the shorter. Whole packages would be dear.
    const forgets = isOlder && nodes.some(({ isRule }) => isRule) && longer.some(({ isOfRule }) => isOfRule)
    if (stops || forgets) return cut
  }
  return 0
}
