import type { ErrorDetail } from '../../errors/app-error.js'
import { remembered } from '../../lib/remembered.js'
import { callsInOrder } from './evaluation-order.js'
import { locateCalls } from '../modules/locate-calls.js'
import { positionIn, readTokens, startsStatement } from '../modules/tokens/read-tokens.js'
import type { Token } from '../modules/tokens/read-tokens.js'
import type { RegoModule } from '../modules/rego-module.js'
import { headPath } from '../modules/outline-module.js'
import { sourceLocation } from '../modules/source-columns.js'
import { pathKey } from '../values/path-key.js'
import type { PolicyPart } from '../snapshot/policy-part.js'
import type { Snapshot } from '../snapshot/snapshot.js'
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
