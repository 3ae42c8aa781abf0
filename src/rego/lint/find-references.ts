import { isMember, startsStatement, stringValue, touches } from '../modules/tokens/read-tokens.js'
import type { Token } from '../modules/tokens/read-tokens.js'

/** A reference to `data` with its constant path. */
export interface DataReference {
  /** The path below `data`; a number is an index. */
  readonly path: readonly (string | number)[]
  /** The index of the first token. */
  readonly at: number
  /** The index after the last constant token. */
  readonly end: number
}

/** The references of a module to `data`, direct ones and those through imports. */
export interface ModuleReferences {
  readonly imports: readonly DataReference[]
  readonly reads: readonly DataReference[]
  /** The targets of `with`. */
  readonly replaced: readonly DataReference[]
}

interface Path {
  readonly path: readonly (string | number)[]
  readonly end: number
}

/**
 * Returns the references to `data` in a module's tokens. A name that an import declares and the
 * module declares again is skipped, because only the compiler resolves it.
 */
export function findReferences(tokens: readonly Token[]): ModuleReferences {
  const imports: DataReference[] = []
  const aliases = new Map<string, readonly (string | number)[]>()
  const declared = declaredNames(tokens)
  const reads: DataReference[] = []
  const replaced: DataReference[] = []
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at]
    if (token?.kind !== 'name' || isMember(tokens, at)) continue
    if (token.depth === 0 && token.text === 'package') at = readPath(tokens, at + 1).end - 1
    else if (token.depth === 0 && token.text === 'import') {
      const { path, end } = readPath(tokens, at + 1)
      if (tokens[at + 1]?.text === 'data') {
        imports.push({ path, at: at + 1, end })
        const alias = tokens[end]?.text === 'as' ? tokens[end + 1]?.text : path.at(-1)
        if (typeof alias === 'string' && !declared.has(alias)) aliases.set(alias, path)
      }
      at = (tokens[end]?.text === 'as' ? end + 2 : end) - 1
    } else {
      const base = token.text === 'data' ? [] : aliases.get(token.text)
      if (base === undefined) continue
      const { path, end } = readPath(tokens, at)
      const isReplaced = tokens[at - 1]?.text === 'with'
      ;(isReplaced ? replaced : reads).push({ path: [...base, ...path], at, end })
      at = end - 1
    }
  }
  return { imports, reads, replaced }
}

/** Returns the constant members after a name. A space ends a reference. */
function readPath(tokens: readonly Token[], start: number): Path {
  const path: (string | number)[] = []
  let at = start + 1
  for (;;) {
    const [sign, member, close] = [tokens[at], tokens[at + 1], tokens[at + 2]]
    if (sign === undefined || member === undefined || !touches(tokens, at)) break
    if (sign.text === '.' && member.kind === 'name') {
      path.push(member.text)
      at += 2
    } else {
      const index = sign.text === '[' && close?.text === ']' ? indexValue(member) : undefined
      if (index === undefined) break
      path.push(index)
      at += 3
    }
  }
  return { path, end: at }
}

function indexValue(token: Token): string | number | undefined {
  if (token.kind === 'string') return stringValue(token)
  const index = token.kind === 'number' ? Number(token.text) : NaN
  return Number.isSafeInteger(index) ? index : undefined
}

/**
 * Returns every name that the module declares: by `:=`, `some`, `every`, as a rule, or as a
 * parameter.
 */
function declaredNames(tokens: readonly Token[]): Set<string> {
  const names = new Set<string>()
  const add = (from: number, to: number): void => {
    for (const { kind, text } of tokens.slice(from, to)) if (kind === 'name') names.add(text)
  }
  for (const [at, { text }] of tokens.entries()) {
    if (text === ':=') add(startOfTerm(tokens, at), at)
    else if (text === 'some' || text === 'every') add(at + 1, endOfDeclaration(tokens, at))
    else if (startsStatement(tokens, at)) {
      names.add(text)
      if (tokens[at + 1]?.text === '(') add(at + 2, endOfGroup(tokens, at + 1))
    }
  }
  return names
}

function startOfTerm(tokens: readonly Token[], end: number): number {
  const last = tokens[end - 1]
  if (last?.kind !== 'sign') return end - 1
  let at = end - 2
  while (at >= 0 && (tokens[at]?.depth ?? 0) > last.depth) at--
  return Math.max(at, 0)
}

/**
 * A declaration by `some` or `every` ends with `in`, a body, or a token that cannot be in a list of
 * names.
 */
function endOfDeclaration(tokens: readonly Token[], start: number): number {
  const depth = tokens[start]?.depth ?? 0
  let at = start + 1
  for (; at < tokens.length; at++) {
    const token = tokens[at]
    if (token === undefined || token.depth < depth || token.text === 'in') break
    const before = tokens[at - 1]
    const continues = before?.text === ',' || token.text === ',' || at === start + 1 || token.depth > depth
    if (!continues && before?.kind === 'name') break
  }
  return at
}

function endOfGroup(tokens: readonly Token[], open: number): number {
  const depth = tokens[open]?.depth ?? 0
  let at = open + 1
  while (at < tokens.length && (tokens[at]?.depth ?? 0) > depth) at++
  return at
}
