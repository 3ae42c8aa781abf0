import { readImports } from './tokens/read-imports.js'
import { isClosing, readTokens } from './tokens/read-tokens.js'
import type { Token } from './tokens/read-tokens.js'
import type { RegoModule } from './rego-module.js'
import { findTemplateStrings } from './tokens/template-strings.js'
import type { TemplateString } from './tokens/template-strings.js'

/** The order in which OPA's compiler to WebAssembly takes the right targets. */
const [INPUT, DATA, FUNCTION] = [0, 1, 2]

interface Modifier {
  readonly rank: number
  /** Where it starts and ends in the text. */
  readonly from: number
  readonly to: number
}

/**
 * The modules with the modifiers of each expression in an order that OPA's compiler to WebAssembly takes: `with` on `input`, then on `data`, then on
 * functions. It leaves functions out of the paths that it sets, but counts them where it looks for the roots of these (`planWithRec`, up to OPA 1.20), so that
 * behind a function another document is set. The order means nothing: values are made before any of them counts. Rows stay as they are unless a value takes several.
 */
export function orderModifiers(modules: readonly RegoModule[]): RegoModule[] {
  return modules.map((module) => {
    const text = orderIn(module.text)
    return text === module.text ? module : { ...module, text }
  })
}

function orderIn(source: string, importedAbove?: ReadonlyMap<string, number>): string {
  if (!/\bwith\b[^]+\bwith\b/.test(source)) return source
  const templates = findTemplateStrings(source)
  const { tokens } = readTokens(withoutTemplates(source, templates))
  const imported = importedAbove ?? importedRanks(tokens)
  const text = orderWithin(source, templates, imported)
  let out = ''
  let copied = 0
  for (const [at, token] of tokens.entries()) {
    if (token.offset < copied || !isWord(token, 'with') || tokens[at - 1]?.text === '.') continue
    const modifiers = modifiersFrom(tokens, at, imported)
    const ordered = modifiers.toSorted((one, other) => one.rank - other.rank)
    for (const [place, { from, to }] of modifiers.entries()) {
      const taken = ordered[place]
      if (taken === modifiers[place]) continue
      out += text.slice(copied, from) + text.slice(taken?.from, taken?.to)
      copied = to
    }
  }
  return out + text.slice(copied)
}

/** The text with an ordinary one in the place of each template string, all else where it was. */
export function withoutTemplates(source: string, templates: readonly TemplateString[]): string {
  let out = ''
  for (const { start, end } of templates)
    out += `${source.slice(out.length, start)}\`${source.slice(start + 1, end - 1).replace(/[^\n]/g, ' ')}\``
  return out + source.slice(out.length)
}

/** The text with the modifiers in its template strings in order; nothing moves, since they change places with each other. */
function orderWithin(
  source: string,
  templates: readonly TemplateString[],
  imported: ReadonlyMap<string, number>,
): string {
  let out = ''
  for (const [start, end] of templates.flatMap(({ expressions }) => expressions))
    out += source.slice(out.length, start) + orderIn(source.slice(start, end), imported)
  return out + source.slice(out.length)
}

/** The modifiers of an expression, of which the first begins at a token. */
function modifiersFrom(
  tokens: readonly Token[],
  first: number,
  imported: ReadonlyMap<string, number>,
): Modifier[] {
  const depth = tokens[first]?.depth ?? 0
  const modifiers: Modifier[] = []
  for (let at = first; isWord(tokens[at], 'with') && tokens[at]?.depth === depth;) {
    const as = placeFrom(
      tokens,
      at + 1,
      (token) => token.depth < depth || (token.depth === depth && isWord(token, 'as')),
    )
    if (!isWord(tokens[as], 'as')) break
    const end = endOfValue(tokens, as + 1, depth)
    const [from, last] = [tokens[at]?.offset ?? 0, tokens[end - 1]]
    const root = tokens[at + 1]?.text ?? ''
    const to = last === undefined ? from : last.offset + last.text.length
    modifiers.push({ rank: rankOf(root, imported), from, to })
    at = end
  }
  return modifiers
}

/** The place behind the last token of a value that begins at a place. */
function endOfValue(tokens: readonly Token[], start: number, depth: number): number {
  let at = start + 1
  for (; at < tokens.length; at += 1) {
    const [before, token] = [tokens[at - 1], tokens[at]]
    if (before === undefined || token === undefined || token.depth < depth) break
    if (token.depth > depth || isClosing(token)) continue
    // Of two words without a sign between them, the second is of what comes next.
    const isNext = token.kind !== 'sign' && (before.kind !== 'sign' || isClosing(before))
    if (token.isFirstOnLine || isNext || /^[;,|]$/.test(token.text)) break
  }
  return at
}

function rankOf(root: string, imported: ReadonlyMap<string, number>): number {
  return root === 'input' ? INPUT : root === 'data' ? DATA : (imported.get(root) ?? FUNCTION)
}

/** What names stand for that are imported from `input` or `data`. */
function importedRanks(tokens: readonly Token[]): Map<string, number> {
  const ranks = readImports(tokens).map(({ path, name }) => [name, rankOf(path[0] ?? '', new Map())] as const)
  return new Map(ranks.filter(([, rank]) => rank !== FUNCTION))
}

/** The first place from `start` on whose token is one looked for, or that behind the last. */
function placeFrom(tokens: readonly Token[], start: number, isFound: (token: Token) => boolean): number {
  let at = start
  for (let token = tokens[at]; token !== undefined && !isFound(token); token = tokens[at]) at += 1
  return at
}

function isWord(token: Token | undefined, word: string): boolean {
  return token?.kind === 'name' && token.text === word
}
