import type { RegoModule } from '../modules/rego-module.js'
import { findContradictions } from './check-contradictions.js'
import type { Contradiction } from './check-contradictions.js'
import { findMixedTypes } from './check-mixed-types.js'
import type { MixedType } from './check-mixed-types.js'
import { findReferences } from './find-references.js'
import type { DataReference } from './find-references.js'
import { isMember, readTokens, startsStatement } from '../modules/tokens/read-tokens.js'
import type { Token } from '../modules/tokens/read-tokens.js'
import { VERDICT_RULES } from '../values/verdict-rules.js'
import { editDistance } from '../../lib/text/nearest-name.js'

/** A definition of a rule. A rule may have several. */
export interface RuleHead {
  readonly name: string
  readonly offset: number
  readonly isDefault: boolean
  /** The verdict that the name resembles. */
  readonly resembles: string | undefined
  /** The names in the definition, without members. */
  readonly uses: ReadonlySet<string>
}

/** A reference, placed. */
export interface Reference {
  readonly path: DataReference['path']
  readonly offset: number
  /**
   * True if the reference is the whole value of a rule with a default, which covers the undefined
   * case.
   */
  readonly hasDefault: boolean
}

/** The facts about a module that the analysis uses. */
export interface DescribedModule {
  readonly module: RegoModule
  /** The text of the offsets. */
  readonly text: string
  /** The references to `data`, without those in test rules. */
  readonly imports: readonly Reference[]
  readonly reads: readonly Reference[]
  readonly replaced: readonly Reference[]
  readonly heads: readonly RuleHead[]
  readonly packageOffset: number
  readonly contradictions: readonly Contradiction[]
  readonly mixedTypes: readonly MixedType[]
}

const known = new WeakMap<RegoModule, DescribedModule>()

/** Reads a module that OPA has parsed. */
export function describeModule(module: RegoModule): DescribedModule {
  const described = known.get(module) ?? describe(module)
  known.set(module, described)
  return described
}

function describe(module: RegoModule): DescribedModule {
  const { text, tokens } = readTokens(module.text)
  const heads = ruleHeads(module, tokens)
  const { imports, reads, replaced } = findReferences(tokens)
  const served = (references: readonly DataReference[]): Reference[] =>
    references
      .map((reference) => place(reference, tokens, heads))
      .filter(({ offset }) => !isInTest(heads, offset))
  return {
    module,
    text,
    imports: served(imports),
    reads: served(reads),
    replaced: served(replaced),
    heads,
    mixedTypes: findMixedTypes(tokens).filter(({ offset }) => !isInTest(heads, offset)),
    contradictions: findContradictions(tokens).filter(({ first }) => !isInTest(heads, first.offset)),
    packageOffset: tokens.find((token) => token.text === 'package')?.offset ?? 0,
  }
}

function place(reference: DataReference, tokens: readonly Token[], heads: readonly RuleHead[]): Reference {
  const { path, at } = reference
  return { path, offset: tokens[at]?.offset ?? 0, hasDefault: hasDefault(reference, tokens, heads) }
}

/**
 * For example `limit := data.limits.max` with `default limit := 10`. The default of a verdict would
 * hide that it never holds.
 */
function hasDefault(
  { at, end }: DataReference,
  tokens: readonly Token[],
  heads: readonly RuleHead[],
): boolean {
  const [name, sign] = [tokens[at - 2], tokens[at - 1]]
  const isValue = (sign?.text === ':=' || sign?.text === '=') && startsStatement(tokens, at - 2)
  const isWhole = end >= tokens.length || startsStatement(tokens, end) || tokens[end]?.text === 'default'
  if (!isValue || !isWhole || VERDICT_RULES.includes(name?.text ?? '')) return false
  return heads.some((head) => head.isDefault && head.name === name?.text)
}

function isInTest(heads: readonly RuleHead[], offset: number): boolean {
  return /^(?:todo_)?test_/.test(heads.findLast((head) => head.offset <= offset)?.name ?? '')
}

function ruleHeads(module: RegoModule, tokens: readonly Token[]): RuleHead[] {
  const names = new Set(module.rules.map(({ path }) => path[0]))
  const heads: (RuleHead & { uses: Set<string> })[] = []
  for (const [at, { kind, text, offset, depth }] of tokens.entries()) {
    if (kind !== 'name' || isMember(tokens, at)) continue
    const isDefault = depth === 0 && tokens[at - 1]?.text === 'default'
    const isHead = names.has(text) && (isDefault || startsStatement(tokens, at))
    if (isHead)
      heads.push({ name: text, offset, isDefault, resembles: resembledVerdict(text), uses: new Set() })
    else heads.at(-1)?.uses.add(text)
  }
  return heads
}

/** Variants of the names, and names from other systems. */
const RELATED: readonly (readonly [form: RegExp, rule: string])[] = [
  [
    /^(?:den(?:y|ys|ies|ied|ial|ials|ying)|disallow(?:s|ed)?|reject(?:s|ed|ion|ions)?|forbid(?:s|den)?)$/,
    'deny',
  ],
  [/^violat(?:e|es|ed|ion|ions|ing|or|ors)$/, 'violation'],
  [/^(?:allow(?:s|ed|ing|ance)?|permit(?:s|ted)?)$/, 'allow'],
]
/** The number of wrong characters accepted. Short words resemble too many others. */
const ALLOWED_ERRORS: Readonly<Record<string, number>> = { deny: 1, violation: 2, allow: 1 }

/** Different words, not misspellings. */
const WORDS: ReadonlySet<string> = new Set(
  'alloc allot alloy defy den dens dent dilation isolation'.split(' '),
)

/** Returns the verdict name that a rule name most likely means; undefined if it resembles none. */
export function resembledVerdict(name: string): string | undefined {
  if (VERDICT_RULES.includes(name)) return undefined
  // The extra distance of a two-word name, as `all_of` or `allOf`.
  const written = name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toLowerCase()
  const word = written.replaceAll('_', '')
  const related = RELATED.find(([form]) => form.test(word))?.[1]
  if (related !== undefined || WORDS.has(word)) return related
  return VERDICT_RULES.find((rule) => isNear(written, rule, ALLOWED_ERRORS[rule] ?? 0))
}

function isNear(word: string, rule: string, errors: number): boolean {
  return Math.abs(word.length - rule.length) <= errors && editDistance(word, rule) <= errors
}
