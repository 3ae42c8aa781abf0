import { CHARACTER, characterClass, rangeEnd } from './characters.js'
import { HOST_ENDINGS, PACKAGE_BEGINNINGS, TERMS_WITH_DIGITS } from './vocabulary.js'

/**
 * The placeholder for a value in templates. A line cannot contain it as one word, since its
 * brackets are separate words.
 */
export const VALUE = '<*>'

/** A line in words and punctuation. */
export interface ScannedLine {
  readonly words: string[]
  /** Spaces before each word: 0, 1, or 2 for more than one. */
  readonly gaps: number[]
}

const APOSTROPHE = 0x27
const DOT = 0x2e
const SENTENCE_ENDS = '.!?'

/** Splits a line into words. A word that is a value by its own shape becomes `VALUE`. */
export function scanWords(text: string): ScannedLine {
  const line: ScannedLine = { words: [], gaps: [] }
  let at = 0
  let gap = 0
  while (at < text.length) {
    const kind = characterClass(text.charCodeAt(at))
    if (kind === CHARACTER.space) {
      gap = Math.min(2, gap + 1)
      at += 1
      continue
    }
    at = kind === CHARACTER.delimiter ? takeDelimiter(text, at, gap, line) : takeWord(text, at, gap, line)
    gap = 0
  }
  return line
}

function takeDelimiter(text: string, at: number, gap: number, line: ScannedLine): number {
  const address = addressEnd(text, at, at)
  push(line, address > at ? VALUE : text.charAt(at), gap)
  return Math.max(address, at + 1)
}

function takeWord(text: string, start: number, gap: number, line: ScannedLine): number {
  const { end, digits } = wordEnd(text, start)
  const whole = Math.max(
    addressEnd(text, start, end),
    locationEnd(text, start, end),
    systemNameEnd(text, start, end),
    rangeEnd(text, start, end),
  )
  if (whole > end) {
    push(line, VALUE, gap)
    return whole
  }
  const trimmed = withoutSentenceEnd(text, start, end)
  if (trimmed > start) {
    const word = text.slice(start, trimmed)
    const isValue = isValueWord(word, digits, text.charAt(start - 1), text.slice(end, end + 2))
    push(line, isValue ? VALUE : word, gap)
  }
  if (trimmed < end) push(line, text.slice(trimmed, end), trimmed > start ? 0 : gap)
  return end
}

function wordEnd(text: string, start: number): { readonly end: number; readonly digits: number } {
  let digits = 0
  let end = start
  for (; end < text.length; end += 1) {
    const code = text.charCodeAt(end)
    const kind = characterClass(code)
    if (kind === CHARACTER.digit) digits += 1
    else if (kind === CHARACTER.space) break
    else if (kind === CHARACTER.delimiter && !(code === APOSTROPHE && isWithinWord(text, end, start))) break
    else if (code === DOT && isLeader(text, end, start)) break
  }
  return { end, digits }
}

function isWithinWord(text: string, at: number, start: number): boolean {
  return at > start && isLetter(text, at - 1) && isLetter(text, at + 1)
}

function isLetter(text: string, at: number): boolean {
  return at < text.length && characterClass(text.charCodeAt(at)) === CHARACTER.letter
}

/** Whether a row of dots begins or ends here: `exception.......0` is a word, dots and a number. */
function isLeader(text: string, at: number, start: number): boolean {
  if (at === start) return false
  const isAfterDots = text.charCodeAt(start) === DOT && text.charCodeAt(start + 1) === DOT
  return !isAfterDots && text.charCodeAt(at + 1) === DOT
}

function withoutSentenceEnd(text: string, start: number, end: number): number {
  let at = end
  while (at > start && SENTENCE_ENDS.includes(text.charAt(at - 1))) at -= 1
  return at
}

function push(line: ScannedLine, word: string, gap: number): void {
  line.words.push(word)
  line.gaps.push(gap)
}

const COLON = 0x3a
const LONGEST_GROUP = 4

/** A hardware address (EUI-48 to EUI-64 with colons). */
const HARDWARE = /[0-9a-f]{2}(?::[0-9a-f]{2}){5,7}(?![\w:])/iy
/**
 * RFC 4291 section 2.2: eight groups, or fewer around one `::`, optionally with an IPv4 address at
 * the end.
 */
const IPV6 =
  /(?:(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}|(?:[0-9a-f]{1,4}(?::[0-9a-f]{1,4}){0,6})?::(?:[0-9a-f]{1,4}:){0,6}(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f]{1,4})?)(?:[%/]\w+)?(?![\w:])/iy

/**
 * The end of a colon-separated address that begins at `start` with a first group up to `end`. `end`
 * if there is none. Without it, groups of letters would be words.
 */
function addressEnd(text: string, start: number, end: number): number {
  if (text.charCodeAt(end) !== COLON || end - start > LONGEST_GROUP) return end
  if (start === end && (text.charCodeAt(end + 1) !== COLON || isWithinName(text, start))) return end
  for (const pattern of [HARDWARE, IPV6]) {
    pattern.lastIndex = start
    const found = pattern.exec(text)?.[0]
    if (found !== undefined && /\d|::.*:/.test(found)) return start + found.length
  }
  return end
}

/** `::` far more often joins names than it begins an address: `Reader::open`. */
function isWithinName(text: string, at: number): boolean {
  return at > 0 && /[\w>)]/.test(text.charAt(at - 1))
}

/** A security context of SELinux: user, role, type, and an optional range of levels. */
const SECURITY_CONTEXT =
  /[\w-]+:[\w-]+_r:[\w-]+_t(?::s\d+(?::c\d+(?:[.,]c\d+)*)?(?:-s\d+(?::c\d+(?:[.,]c\d+)*)?)?)?(?![\w:])/y
/** A function with the offset within its length, and its module: a frame of the kernel. */
const KERNEL_FRAME = /[\w.$]+\+0x[\da-f]+\/0x[\da-f]+ \[[\w-]+\]/iy

/**
 * The end of a security context or of a kernel's frame with a module that begins at `start` with a
 * first word up to `end`. `end` if there is none.
 */
function systemNameEnd(text: string, start: number, end: number): number {
  const next = text.charCodeAt(end)
  const isContext = next === COLON && isLetter(text, end + 1)
  if (!isContext && !(text.startsWith(' [', end) && text.slice(start, end).includes('+0x'))) return end
  const pattern = isContext ? SECURITY_CONTEXT : KERNEL_FRAME
  pattern.lastIndex = start
  return end + Math.max(0, (pattern.exec(text)?.[0].length ?? 0) - (end - start))
}

const SLASH = 0x2f
const BACKSLASH = 0x5c
const SEMICOLON = 0x3b
/** Characters that end a URL or path. Commas and colons do not. */
const ENDS = ' \t\r\n"\'<>)]}'
const TRAILING = '.,;:!?'

/** A media type without its parameters, as a source of a regular expression. */
const MEDIA_TYPE_NAME = String.raw`(?:application|audio|font|image|message|model|multipart|text|video)\/[\w.+*-]*[\w*]`
/** A media type with parameters (RFC 9110 section 8.3.1). */
const MEDIA_TYPE = new RegExp(`${MEDIA_TYPE_NAME}(?:;[ +]?[\\w-]+=[\\w.-]*\\w)+`, 'y')

/**
 * The end of a URL, a media type, a path with a query, or a Windows path that begins at `start`
 * with a first word up to `end`. `end` if there is none.
 */
function locationEnd(text: string, start: number, end: number): number {
  if (text.charCodeAt(end) === SEMICOLON) return Math.max(end, start + mediaType(text, start).length)
  if (!isQuery(text, start, end) && !isUrlOrDrive(text, start, end)) return end
  const isDrive = text.charCodeAt(end + 1) === BACKSLASH
  let at = end
  while (at < text.length && !ENDS.includes(text.charAt(at))) {
    at += 1
    if (isDrive && text.charAt(at) === ' ') at += restOfFolder(text, at)
  }
  while (at > end && TRAILING.includes(text.charAt(at - 1))) at -= 1
  return at
}

/** Names of folders have blanks: `C:\Program Files\Shop`. */
const REST_OF_FOLDER = / [\w.()-]{1,40}(?: [\w.()-]{1,40}){0,2}(?=\\\w)/y

function restOfFolder(text: string, at: number): number {
  REST_OF_FOLDER.lastIndex = at
  return REST_OF_FOLDER.exec(text)?.[0].length ?? 0
}

function mediaType(text: string, start: number): string {
  MEDIA_TYPE.lastIndex = start
  return MEDIA_TYPE.exec(text)?.[0] ?? ''
}

function isQuery(text: string, start: number, end: number): boolean {
  return text.charCodeAt(start) === SLASH && text.charAt(end) === '=' && text.slice(start, end).includes('?')
}

function isUrlOrDrive(text: string, start: number, end: number): boolean {
  if (text.charCodeAt(end) !== COLON) return false
  const next = text.charCodeAt(end + 1)
  if (next === SLASH && text.charCodeAt(end + 2) === SLASH) return true
  return end === start + 1 && (next === BACKSLASH || next === SLASH)
}

/** `jk2_init(` is a function, `attempt_1445_m_01(` is not. */
const MAX_DIGITS_OF_A_FUNCTION = 2
const MAX_DIGITS_OF_A_TERM = 3
const SHORTEST_HEX_WORD = 8
/** Minimum length of the hash in a printed object, which is often shortened: `Token{abcdefa`. */
const SHORTEST_HASH = 6

const WHOLE_MEDIA_TYPE = new RegExp(`^${MEDIA_TYPE_NAME}$`)

/**
 * Whether a word is a value by its own shape: a number, address, path, host, hexadecimal or mixed
 * identifier. `digits` is its number of digits, `before` the character before it, `next` the two
 * characters after it.
 */
function isValueWord(word: string, digits: number, before: string, next: string): boolean {
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
  if (WHOLE_MEDIA_TYPE.test(word)) return true
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
