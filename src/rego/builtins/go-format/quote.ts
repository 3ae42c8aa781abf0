const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
}

/** Go's unicode.IsPrint: letters, marks, numbers, punctuation, symbols and U+0020. */
const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u

/** Quotes a text like Go's strconv.Quote, or with `asciiOnly` like QuoteToASCII. */
export function quoteGoString(text: string, asciiOnly = false): string {
  return quoteWith(text, '"', asciiOnly)
}

/** Quotes a code point like Go's strconv.QuoteRune. A value outside of Unicode becomes U+FFFD. */
export function quoteGoRune(codePoint: number, asciiOnly = false): string {
  return quoteWith(String.fromCodePoint(toValidCodePoint(codePoint)), "'", asciiOnly)
}

/** Returns the code point, or U+FFFD for a surrogate or a value outside of Unicode. */
export function toValidCodePoint(codePoint: number): number {
  const isSurrogate = codePoint >= 0xd800 && codePoint <= 0xdfff
  return codePoint < 0 || codePoint > 0x10ffff || isSurrogate ? 0xfffd : codePoint
}

/** Returns true if Go prints the character unescaped (unicode.IsPrint). */
export function isPrintable(character: string): boolean {
  return PRINTABLE.test(character)
}

function quoteWith(text: string, mark: string, asciiOnly: boolean): string {
  let quoted = mark
  for (const character of text) quoted += escapeCharacter(character, mark, asciiOnly)
  return quoted + mark
}

function escapeCharacter(character: string, mark: string, asciiOnly: boolean): string {
  if (character === mark || character === '\\') return `\\${character}`
  const code = character.codePointAt(0) ?? 0
  if (code < 0x80 ? code >= 0x20 && code < 0x7f : !asciiOnly && isPrintable(character)) return character
  const short = SHORT_ESCAPES[character]
  if (short !== undefined) return short
  if (code < 0x80) return `\\x${hex(code, 2)}`
  return code > 0xffff ? `\\U${hex(code, 8)}` : `\\u${hex(code, 4)}`
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0')
}
