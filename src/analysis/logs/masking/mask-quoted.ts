import { VALUE } from './scan-words.js'
import type { ScannedLine } from './scan-words.js'

/** The last part of the name of a field that says what happened, whose texts are messages and states rather than values. */
const TELLING = new Set(
  `msg message error err errno exit failure fault reason cause level lvl severity action event op operation status state result method verb command cmd exception
   text description desc detail details title summary phase step stage what outcome`.split(/\s+/),
)
/** Whole names that say so, and names of theirs with one of those in them: `type=delete` and `error_code=gone`, but not `probeType=Readiness`. */
const TELLING_OF = new Set('type kind code mode logger component module class'.split(' '))
/** A value rarely has more words, and a quote that is not closed has none. */
const MOST_WORDS = 40

/** One value for all that stands between the quotes of a field: `name="Ann Lee"`, `owner=''`, `"user": "bob"`. Not of `msg="no route"`. */
export function maskQuoted(line: ScannedLine): ScannedLine {
  const { words, gaps } = line
  if (!words.includes('"') && !words.includes("'")) return line
  const masked: ScannedLine = { words: [], gaps: [] }
  for (let at = 0; at < words.length; at += 1) {
    masked.words.push(words[at] ?? '')
    masked.gaps.push(gaps[at] ?? 0)
    const end = isFieldQuote(words, at) ? closingQuote(words, at) : undefined
    if (end === undefined) continue
    masked.words.push(VALUE)
    masked.gaps.push(0)
    at = end - 1
  }
  return masked
}

/** Whether the quote here opens the value of a field that is not telling. */
function isFieldQuote(words: readonly string[], at: number): boolean {
  const quote = words[at]
  if (quote !== '"' && quote !== "'") return false
  const joint = words[at - 1]
  const key =
    joint === '=' ? words[at - 2] : joint === ':' && words[at - 2] === quote ? words[at - 3] : undefined
  return key !== undefined && /\p{L}/u.test(key) && !isTellingField(key)
}

/** Whether what stands in a field of this name says what happened. */
export function isTellingField(name: string): boolean {
  const parts = partsOf(name)
  const last = parts.at(-1) ?? ''
  if (TELLING.has(last)) return true
  return TELLING_OF.has(last) && (parts.length === 1 || parts.some((part) => TELLING.has(part)))
}

function closingQuote(words: readonly string[], at: number): number | undefined {
  const end = words.indexOf(words[at] ?? '', at + 1)
  return end > at && end - at <= MOST_WORDS ? end : undefined
}

/** `errorMessage`, `error_message` and `error.message` are messages. */
function partsOf(key: string): readonly string[] {
  return key.split(/[._-]|(?<=\p{Ll})(?=\p{Lu})/u).map((part) => part.toLowerCase())
}
