import { editDistance } from '../../lib/text/nearest-name.js'
import { VERDICT_RULES } from '../values/verdict-rules.js'

/** Other forms of the words, and words that other systems use for them. */
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

/** Words of their own, which are no slips. */
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
