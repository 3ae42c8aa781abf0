import type { ErrorDetail } from '../../errors/app-error.js'
import { remembered } from '../../lib/remembered.js'
import { locateCalls } from '../modules/locate-calls.js'
import { headPath } from '../modules/outline-module.js'
import type { RegoModule } from '../modules/rego-module.js'
import { sourceLocation } from '../modules/source-columns.js'
import { positionIn, readTokens, startsStatement, isClosing } from '../modules/tokens/read-tokens.js'
import type { Token } from '../modules/tokens/read-tokens.js'
import type { PolicyPart } from '../snapshot/policy-part.js'
import type { Snapshot } from '../snapshot/snapshot.js'
import { pathKey } from '../values/path-key.js'
import type { Caller } from '../wasm/module/evaluation-abort.js'

type Location = NonNullable<ErrorDetail['location']>
type ShowFile = (file: string) => string

/**
 * Limit on cached locations. A policy may fail for every request, and finding a location reads its
 * source.
 */
const REMEMBERED_PLACES = 10_000

/** Maps the compiler's file names in error locations to source files, as callers may see them. */
export function indexSources(parts: readonly PolicyPart[], show: ShowFile): Snapshot['locateSource'] {
  const texts = new Map(parts.flatMap(({ rego }) => rego.map(({ file, text }) => [file, text] as const)))
  const locate = (compiledName: string, row: number): ReturnType<Snapshot['locateSource']> => {
    const names = parts.flatMap(({ sourceFile }) => sourceFile(compiledName) ?? [])
    const file = names.find((name) => texts.has(name)) ?? names[0] ?? compiledName
    return { file: show(file), head: headAt(texts.get(file) ?? '', row) }
  }
  return remembered(locate, REMEMBERED_PLACES, jsonOf)
}

/** Returns the first line of the definition at a line; an `else` is part of its definition. */
function headAt(text: string, row: number): string | undefined {
  const offset = text.split('\n', row).join('\n').length
  const start = statementsOf(readTokens(text).tokens).findLast(
    ([token]) => token !== undefined && token.offset < offset,
  )?.[0]
  return start === undefined ? undefined : text.slice(start.offset).split('\n', 1)[0]
}

/**
 * Returns the tokens of each rule, import and package. In a module with template strings their
 * offsets are in the rewritten text.
 */
function statementsOf(tokens: readonly Token[]): Token[][] {
  const statements: Token[][] = []
  for (const [at, token] of tokens.entries()) {
    if (startsStatement(tokens, at) && token.text !== 'else') statements.push([])
    statements.at(-1)?.push(token)
  }
  return statements
}

/** Returns a function that locates the call of a failed built-in. */
export function indexCalls(parts: readonly PolicyPart[], show: ShowFile): Snapshot['locateBuiltin'] {
  const locate = (name: string, caller: Caller | undefined): Location | undefined => {
    const compiled = parts.filter((part) => part.compiled !== undefined)
    const made =
      caller === undefined ? [] : compiled.flatMap(({ modules }) => callsFrom(modules, name, caller))
    const [call] = made.length === 1 ? made : onlyCall(compiled, name)
    if (call === undefined) return undefined
    const source = compiled.flatMap(({ rego }) => rego).find(({ file }) => file === call.file)
    return { ...(source ? sourceLocation(source, call) : call), file: show(call.file) }
  }
  return remembered(locate, REMEMBERED_PLACES, jsonOf)
}

function jsonOf(...question: readonly unknown[]): string {
  return JSON.stringify(question)
}

/**
 * Returns the only call of a built-in, if there is exactly one. With bundles, whose Rego may be
 * missing, no call is known to be the only one.
 */
function onlyCall(parts: readonly PolicyPart[], name: string): Location[] {
  const calls = parts.length === 1 ? parts.flatMap(({ rego }) => locateCalls(rego, name)) : []
  return calls.length === 1 ? calls : []
}

/**
 * Returns the calls of a built-in that a rule may have made; a single one if the text shows which.
 */
function callsFrom(modules: readonly RegoModule[], builtin: string, caller: Caller): Location[] {
  const definitions = modules.flatMap((module) => definitionsOf(module, caller.rule))
  const calls = definitions.map(({ file, text, tokens }) =>
    callsInOrder(tokens, builtin)?.map((token) => ({ file, ...positionIn(text, token.offset) })),
  )
  const all = calls.flatMap((some) => some ?? [])
  const [first, ...others] = definitions
  // The compiler reorders definitions with variable keys, and definitions in several files.
  const isOrdered =
    others.every(({ file, path }) => file === first?.file && path === first.path) ||
    calls.filter((some) => some?.length !== 0).length === 1
  const hasModifiers = definitions.some(({ tokens }) =>
    tokens.some(({ kind, text }) => kind === 'name' && text === 'with'),
  )
  const made = all[caller.nth]
  const isReported = isOrdered && !hasModifiers && all.length === caller.count && made !== undefined
  if (isReported) return [made]
  return calls.includes(undefined) ? [] : all
}

interface Definition {
  readonly file: string
  readonly text: string
  readonly tokens: readonly Token[]
  /** The key of the constant path, with a suffix for variable keys. */
  readonly path: string
}

/** Returns the definitions of the rule that a compiled function belongs to. */
function definitionsOf(
  { file, text: source, packagePath }: RegoModule,
  rule: readonly string[],
): Definition[] {
  if (!packagePath.every((segment, at) => rule[at] === segment)) return []
  const { text, tokens: all } = readTokens(source)
  // Template strings are rewritten, so their offsets differ.
  if (text !== source) return []
  return statementsOf(all).flatMap((tokens) => {
    const start = tokens[0]?.text === 'default' ? 1 : 0
    const head = headPath(tokens, start)
    const path = [...packagePath, ...head.path]
    const isOfRule = rule.every((segment, at) => path[at] === segment)
    const isDynamic = tokens[head.end]?.text === '['
    return isOfRule
      ? [{ file, text, tokens, path: `${pathKey(path)}${isDynamic ? `#${tokens[0]?.offset ?? 0}` : ''}` }]
      : []
  })
}

/** A token, or a bracket with its contents. */
type Node = Token | Group
interface Group {
  readonly open: Token
  readonly nodes: readonly Node[]
}

/** OPA's names of the operators that can fail. They bind like `*`. */
const OPERATORS: Readonly<Record<string, string>> = { div: '/', rem: '%' }

/**
 * Returns the tokens of a definition at which calls of a built-in begin, in OPA's evaluation order
 * as far as the text shows it: a body before the value of its rule or comprehension, operands
 * before their call. Undefined if a variable may get its value from an expression after one that
 * reads it, because OPA reorders these.
 */
function callsInOrder(tokens: readonly Token[], builtin: string): Token[] | undefined {
  const found: Token[] = []
  const names = new Map<string, { readonly isOperand: boolean }>()
  const bound: string[] = []
  const visitAll = (nodes: readonly Node[], isOperand: boolean): void => {
    // An operator is evaluated after its second operand.
    let pending: Token | undefined
    for (const [at, node] of [...nodes.entries(), [nodes.length, undefined] as const]) {
      if (pending !== undefined && endsOperand(node)) {
        found.push(pending)
        pending = undefined
      }
      if (node === undefined) break
      if (!isGroup(node) && node.kind === 'name' && !names.has(node.text)) names.set(node.text, { isOperand })
      else bound.push(...boundAt(nodes, at).filter((name) => names.get(name)?.isOperand === true))
      if (isGroup(node)) {
        const bar = node.open.text === '(' ? -1 : node.nodes.findIndex((one) => isSign(one, '|'))
        visitAll(node.nodes.slice(bar + 1), node.open.text === '(')
        if (bar !== -1) visitAll(node.nodes.slice(0, bar), false)
        const call =
          node.open.text === '(' && nameBefore(nodes, at).name === builtin
            ? startOfCall(nodes, at)
            : undefined
        if (call !== undefined) found.push(call)
      } else if (OPERATORS[builtin] === node.text && node.kind === 'sign') {
        const start = nodes[startOfFactor(nodes, at - 1)]
        pending = start && firstToken(start)
      }
    }
  }
  for (const { head, body } of clausesOf(toNodes(tokens))) {
    visitAll(body, false)
    visitAll(head, false)
  }
  return bound.length > 0 ? undefined : found
}

/**
 * Returns the variables that an expression may assign although earlier expressions read them: `x =
 * 1`, `[x, y] = z`, `xs[x]`.
 */
function boundAt(nodes: readonly Node[], at: number): string[] {
  const node = nodes[at]
  const isMatched = (place: number): boolean =>
    isSign(nodes[place], '=') && !isSign(nodes[place + 1], '=') && !/^[=!<>]$/.test(textAt(nodes, place - 1))
  if (isGroup(node)) {
    const isIndex = node.open.text === '[' && node.nodes.length === 1
    return isIndex || isMatched(at + 1) || isMatched(at - 1)
      ? node.nodes.map((one) => firstToken(one).text)
      : []
  }
  return isMatched(at + 1) || isMatched(at - 1) ? [textAt(nodes, at)] : []
}

function textAt(nodes: readonly Node[], at: number): string {
  const node = nodes[at]
  return node === undefined ? '' : firstToken(node).text
}

function isGroup(node: Node | undefined): node is Group {
  return node !== undefined && 'nodes' in node
}

function isSign(node: Node | undefined, text: string): boolean {
  return node !== undefined && !isGroup(node) && node.kind === 'sign' && node.text === text
}

function isWord(node: Node | undefined, text: string): node is Token {
  return node !== undefined && !isGroup(node) && node.kind === 'name' && node.text === text
}

function firstToken(node: Node): Token {
  return isGroup(node) ? node.open : node
}

/** True if an operand ends before this token; undefined is the end. */
function endsOperand(node: Node | undefined): boolean {
  if (node === undefined || firstToken(node).isFirstOnLine) return true
  return !isGroup(node) && node.kind === 'sign' && node.text !== '.'
}

function toNodes(tokens: readonly Token[]): Node[] {
  const stack: Node[][] = [[]]
  for (const token of tokens) {
    if (isClosing(token)) {
      if (stack.length > 1) stack.pop()
    } else if (token.kind === 'sign' && /^[([{]$/.test(token.text)) {
      const nodes: Node[] = []
      stack.at(-1)?.push({ open: token, nodes })
      stack.push(nodes)
    } else stack.at(-1)?.push(token)
  }
  return stack[0] ?? []
}

/** Returns the head and the body of a rule and of each `else`. */
function clausesOf(nodes: readonly Node[]): { head: readonly Node[]; body: readonly Node[] }[] {
  const starts = nodes.flatMap((node, at) => (at === 0 || isWord(node, 'else') ? [at] : []))
  return starts.map((start, index) => {
    const clause = nodes.slice(start, starts[index + 1])
    const condition = clause.findIndex((node) => isWord(node, 'if'))
    const last = clause.at(-1)
    // In version 0 no keyword precedes a body.
    const hasBody = isGroup(last) && last.open.text === '{'
    const end = condition === -1 ? clause.length - (hasBody ? 1 : 0) : condition
    return { head: clause.slice(0, end), body: clause.slice(end) }
  })
}

/** Returns the dotted name directly before a bracket, and its start. */
function nameBefore(nodes: readonly Node[], at: number): { name: string; start: number } {
  let start = at
  let name = ''
  for (
    let word = nodes[start - 1];
    word !== undefined && !isGroup(word) && word.kind === 'name';
    word = nodes[start - 1]
  ) {
    name = word.text + name
    start -= 1
    if (!isSign(nodes[start - 1], '.')) break
    name = `.${name}`
    start -= 1
  }
  return { name, start }
}

/** Returns the start of the call whose operands are in a bracket, with a preceding `not`. */
function startOfCall(nodes: readonly Node[], at: number): Token | undefined {
  const { start } = nameBefore(nodes, at)
  const [before, after] = [nodes[start - 1], nodes[at + 1]]
  const isWhole =
    after === undefined || firstToken(after).isFirstOnLine || isSign(after, ';') || isWord(after, 'with')
  if (isWord(before, 'not') && isWhole) return before
  const [first] = nodes.slice(start, at + 1).map(firstToken)
  return first
}

/**
 * Returns the start of the product whose last factor ends at an index: references, calls and
 * brackets joined by `*`, `/` and `%`.
 */
function startOfFactor(nodes: readonly Node[], end: number): number {
  let at = end
  while (at > 0) {
    const [before, node] = [nodes[at - 1], nodes[at]]
    const isBehindName =
      isGroup(node) &&
      node.open.text !== '{' &&
      before !== undefined &&
      (isGroup(before) || before.kind === 'name')
    if (isBehindName) at -= 1
    else if (isSign(before, '.') || isSign(before, '*') || isSign(before, '/') || isSign(before, '%')) at -= 2
    else break
  }
  return at
}
