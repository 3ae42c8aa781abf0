import type { RegoModule } from '../modules/rego-module.js'
import { applyEdits, rewriteModules } from '../modules/rewrite-modules.js'
import type { Edit } from '../modules/rewrite-modules.js'
import { readImports } from '../modules/tokens/read-imports.js'
import { findBetween } from '../modules/tokens/expressions.js'
import { isClosing, readTokens } from '../modules/tokens/read-tokens.js'
import type { Token } from '../modules/tokens/read-tokens.js'
import { findTemplateStrings, withoutTemplates } from '../modules/tokens/template-strings.js'

/** The order of `with` targets that OPA compiles correctly. */
const [INPUT, DATA, FUNCTION] = [0, 1, 2]

interface Modifier {
  readonly rank: number
  /** Start and end in the text. */
  readonly from: number
  readonly to: number
}

/**
 * Sorts the `with` modifiers of each expression: `input` first, then `data`, then functions.
 *
 * Fault: code compiled to WebAssembly replaces the wrong document for a `with` on `input` or `data`
 * that follows a `with` on a function. The planner (`planWithRec`) leaves functions out of the list
 * of paths, but counts them when it looks up the roots of these paths.
 * Versions: 0.70 and 1.x up to 1.20.2.
 *
 * The order has no other effect, since OPA evaluates all values before it applies a modifier. Line
 * numbers stay unless a value spans several lines.
 */
export async function orderModifiers(modules: readonly RegoModule[]): Promise<readonly RegoModule[]> {
  return await rewriteModules(modules, ({ text }) => orderIn(text))
}

function orderIn(source: string, importedAbove?: ReadonlyMap<string, number>): string {
  if (!/\bwith\b[^]+\bwith\b/.test(source)) return source
  const templates = findTemplateStrings(source)
  const { tokens } = readTokens(withoutTemplates(source, templates))
  const imported = importedAbove ?? importedRanks(tokens)
  // The modifiers only change places, so the expressions of template strings keep their length.
  const text = applyEdits(
    source,
    templates
      .flatMap(({ expressions }) => expressions)
      .map(([at, end]) => ({ at, length: end - at, text: orderIn(source.slice(at, end), imported) })),
  )
  const edits: Edit[] = []
  let end = 0
  for (const [index, token] of tokens.entries()) {
    if (token.offset < end || !isWord(token, 'with') || tokens[index - 1]?.text === '.') continue
    const modifiers = modifiersFrom(tokens, index, imported)
    const ordered = modifiers.toSorted((one, other) => one.rank - other.rank)
    for (const [place, { from, to }] of modifiers.entries()) {
      const moved = ordered[place]
      if (moved === undefined || moved === modifiers[place]) continue
      edits.push({ at: from, length: to - from, text: text.slice(moved.from, moved.to) })
      end = to
    }
  }
  return applyEdits(text, edits)
}

/** Returns the modifiers of an expression; `first` is the index of the first `with`. */
function modifiersFrom(
  tokens: readonly Token[],
  first: number,
  imported: ReadonlyMap<string, number>,
): Modifier[] {
  const depth = tokens[first]?.depth ?? 0
  const modifiers: Modifier[] = []
  for (let at = first; isWord(tokens[at], 'with') && tokens[at]?.depth === depth;) {
    const isEnd = (token: Token): boolean =>
      token.depth < depth || (token.depth === depth && isWord(token, 'as'))
    const as = findBetween(tokens, at, tokens.length, isEnd)
    if (!isWord(tokens[as], 'as')) break
    const end = endOfValue(tokens, as + 1, depth)
    const [from, last] = [tokens[at]?.offset ?? 0, tokens[end - 1]]
    const to = last === undefined ? from : last.offset + last.text.length
    modifiers.push({ rank: rankOf(tokens[at + 1]?.text ?? '', imported), from, to })
    at = end
  }
  return modifiers
}

/** Returns the index after the last token of the value that begins at `start`. */
function endOfValue(tokens: readonly Token[], start: number, depth: number): number {
  let at = start + 1
  for (; at < tokens.length; at += 1) {
    const [before, token] = [tokens[at - 1], tokens[at]]
    if (before === undefined || token === undefined || token.depth < depth) break
    if (token.depth > depth || isClosing(token)) continue
    // Two words without an operator between them belong to different expressions.
    const isNext = token.kind !== 'sign' && (before.kind !== 'sign' || isClosing(before))
    if (token.isFirstOnLine || isNext || /^[;,|]$/.test(token.text)) break
  }
  return at
}

function rankOf(root: string, imported: ReadonlyMap<string, number>): number {
  return root === 'input' ? INPUT : root === 'data' ? DATA : (imported.get(root) ?? FUNCTION)
}

/** Returns the ranks of names imported from `input` or `data`. */
function importedRanks(tokens: readonly Token[]): Map<string, number> {
  const ranks = readImports(tokens).map(({ path, name }) => [name, rankOf(path[0] ?? '', new Map())] as const)
  return new Map(ranks.filter(([, rank]) => rank !== FUNCTION))
}

function isWord(token: Token | undefined, word: string): boolean {
  return token?.kind === 'name' && token.text === word
}
