import { HOST_ENDINGS, PACKAGE_BEGINNINGS, TERMS_WITH_DIGITS } from './vocabulary.js'

/** `jk2_init(` is a function, `attempt_1445_m_01(` is not. */
const MAX_DIGITS_OF_A_FUNCTION = 2
const MAX_DIGITS_OF_A_TERM = 3
const SHORTEST_HEX_WORD = 8
/** Minimum length of the hash in a printed object, which is often shortened: `Token{abcdefa`. */
const SHORTEST_HASH = 6

/** A media type without its parameters, as a source of a regular expression. */
export const MEDIA_TYPE_NAME = String.raw`(?:application|audio|font|image|message|model|multipart|text|video)\/[\w.+*-]*[\w*]`
const MEDIA_TYPE = new RegExp(`^${MEDIA_TYPE_NAME}$`)

/**
 * Whether a word is a value by its own shape: a number, address, path, host, hexadecimal or mixed
 * identifier. `digits` is its number of digits, `before` the character before it, `next` the two
 * characters after it.
 */
export function isValueWord(word: string, digits: number, before: string, next: string): boolean {
  if (digits > 0) return !isTerm(word, digits) && !(next.startsWith('(') && isFunction(word, digits, next))
  const shortestHex = before === '{' ? SHORTEST_HASH : SHORTEST_HEX_WORD
  return isPath(word) || isStarred(word) || isHex(word, shortestHex) || isHost(word, next) || isAddress(word)
}

function isTerm(word: string, digits: number): boolean {
  return digits <= MAX_DIGITS_OF_A_TERM && word.length > digits && TERMS_WITH_DIGITS.has(word.toLowerCase())
}

function isFunction(word: string, digits: number, next: string): boolean {
  if (digits > MAX_DIGITS_OF_A_FUNCTION || !/^[A-Za-z_][\w.]*$/.test(word)) return false
  return next === '()' || /[A-Za-z_]$/.test(word)
}

function isPath(word: string): boolean {
  if (word.includes('\\')) return word.length > 1
  const slash = word.indexOf('/')
  if (slash < 0 || word.length === 1) return false
  if (MEDIA_TYPE.test(word)) return true
  return slash === 0 || word.startsWith('.') || word.startsWith('~') || /\/.*\/|\./.test(word)
}

function isStarred(word: string): boolean {
  return word.length > 1 && word.startsWith('*') && /^\*+$/.test(word)
}

/** `name@host`, and the `Type@hash` of objects that print themselves. */
function isAddress(word: string): boolean {
  const at = word.indexOf('@')
  return at > 0 && at < word.length - 1
}

function isHex(word: string, shortest: number): boolean {
  return word.length >= shortest && /^[0-9a-f]+$/i.test(word)
}

/**
 * Whether it is a dotted name with the ending of a host, or with a port after it. Reversed names
 * such as `com.example.Thing` are not hosts.
 */
function isHost(word: string, next: string): boolean {
  const firstDot = word.indexOf('.')
  if (firstDot <= 0) return false
  if (!/^[\w-]+(?:\.[\w-]+)+$/.test(word) || PACKAGE_BEGINNINGS.has(word.slice(0, firstDot))) return false
  if (/^:\d/.test(next)) return true
  const lastDot = word.lastIndexOf('.')
  const ending = word.slice(lastDot + 1)
  // `foo.de` may be a host, `main.rs` is a file and `a.is` a typing error: two-letter endings need
  // more labels.
  return HOST_ENDINGS.has(ending) && (lastDot > firstDot || ending.length > 2)
}
