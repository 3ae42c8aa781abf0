import { VALUE } from './scan-words.js'
import type { ScannedLine } from './scan-words.js'
import { QUOTED_BY } from './vocabulary.js'

/** Last parts of names of fields that hold messages and states rather than values. */
const MESSAGE_FIELDS = new Set(
  `msg message error err errno exit failure fault reason cause level lvl severity action event op operation status state result method verb command cmd exception
   text description desc detail details title summary phase step stage what outcome`.split(/\s+/),
)
/**
 * Names that count alone or together with one of `MESSAGE_FIELDS`: `type=delete` and
 * `error_code=gone`, but not `probeType=Readiness`.
 */
const QUALIFIED_MESSAGE_FIELDS = new Set('type kind code mode logger component module class'.split(' '))
/**
 * Words before the name of an unquoted field. At the start of a line, a name with a colon is the
 * logging component.
 */
const FIELD_STARTS: ReadonlySet<string> = new Set([',', '(', '{', '[', ';'])
/** Maximum number of words in a quoted value. Longer ones have an unclosed quote. */
const MAX_WORDS = 40

/**
 * Replaces the quoted values of fields by one value each: `name="Ann Lee"`, `owner=''`, `"user":
 * "bob"`, but not `msg="no route"`.
 */
export function maskQuoted(line: ScannedLine): ScannedLine {
  const { words, gaps } = line
  if (!words.includes('"') && !words.includes("'")) return line
  const masked: ScannedLine = { words: [], gaps: [] }
  for (let at = 0; at < words.length; at += 1) {
    masked.words.push(words[at] ?? '')
    masked.gaps.push(gaps[at] ?? 0)
    const end = isFieldQuote(line, at) ? closingQuote(words, at) : undefined
    if (end === undefined) continue
    masked.words.push(VALUE)
    masked.gaps.push(0)
    at = end - 1
  }
  return masked
}

/**
 * Whether the quote opens the value of a field that holds no message. Also a single quoted word
 * after a name with a colon, or after a naming word (`channel 'shop'`); several words there may be
 * a sentence.
 */
function isFieldQuote({ words, gaps }: ScannedLine, at: number): boolean {
  const quote = words[at]
  if (quote !== '"' && quote !== "'") return false
  const [before = '', name = ''] = [words[at - 1], words[at - 2]]
  const isQuoted = before === ':' && name === quote
  if (before === '=' || isQuoted) return isName(isQuoted ? words[at - 3] : name)
  const end = words.indexOf(quote, at + 1)
  if (end < at || end > at + 2 || gaps[at] !== 1) return false
  // `method 'GET'` and `state 'OPEN'` are messages.
  if (/^[A-Z][A-Z_]+$/.test(words[at + 1] ?? '')) return false
  if (before === ':') return FIELD_STARTS.has(words[at - 3] ?? '') && isName(name)
  return QUOTED_BY.has(before.toLowerCase())
}

/** Whether it names a field that holds no message. */
function isName(word: string | undefined): boolean {
  return word !== undefined && /\p{L}/u.test(word) && !isMessageField(word)
}

/** Whether a field of this name states an outcome or a message. */
export function isMessageField(name: string): boolean {
  const parts = partsOf(name)
  const last = parts.at(-1) ?? ''
  if (MESSAGE_FIELDS.has(last)) return true
  return (
    QUALIFIED_MESSAGE_FIELDS.has(last) &&
    (parts.length === 1 || parts.some((part) => MESSAGE_FIELDS.has(part)))
  )
}

function closingQuote(words: readonly string[], at: number): number | undefined {
  const end = words.indexOf(words[at] ?? '', at + 1)
  return end > at && end - at <= MAX_WORDS ? end : undefined
}

/** `errorMessage`, `error_message` and `error.message` are messages. */
function partsOf(key: string): readonly string[] {
  return key.split(/[._-]|(?<=\p{Ll})(?=\p{Lu})/u).map((part) => part.toLowerCase())
}
