/** The classes of characters by their effect on words. */
export const CHARACTER = { space: 0, delimiter: 1, letter: 2, digit: 3, joiner: 4 } as const

const SPACES = ' \t\n\r\v\f'
const DELIMITERS = '()[]{}<>"\'`=,;:|'
const ASCII = 128

const CLASSES: Uint8Array = Uint8Array.from({ length: ASCII }, (_, code) => {
  const character = String.fromCharCode(code)
  if (SPACES.includes(character)) return CHARACTER.space
  if (DELIMITERS.includes(character)) return CHARACTER.delimiter
  if (/[a-z]/i.test(character)) return CHARACTER.letter
  if (/\d/.test(character)) return CHARACTER.digit
  return CHARACTER.joiner
})

/** The class of a UTF-16 code unit. All beyond ASCII are letters, except pasted spaces. */
export function characterClass(code: number): number {
  if (code < ASCII) return CLASSES[code] ?? CHARACTER.joiner
  return code === 0xa0 || code === 0x3000 ? CHARACTER.space : CHARACTER.letter
}

/** Whether a word is an opening bracket. */
export function isOpening(word: string): boolean {
  return word.length === 1 && '([{<'.includes(word)
}

/** Whether a word is a closing bracket. */
export function isClosing(word: string): boolean {
  return word.length === 1 && ')]}>'.includes(word)
}

const OPENING_BRACKET = 0x5b
/** Numbers in brackets with at least one range. */
const RANGES = /\[(?:\d+[, ])*\d+-\d+(?:[, ]\d+(?:-\d+)?)*\]/y

/**
 * The end of a range of hosts, `node-[40-63]` or `rack-b[0-7,12]`, that begins at `start` with a
 * first word up to `end`. `end` if there is none.
 */
export function rangeEnd(text: string, start: number, end: number): number {
  if (text.charCodeAt(end) !== OPENING_BRACKET || !/[\d-]/.test(text.slice(start, end))) return end
  RANGES.lastIndex = end
  return end + (RANGES.exec(text)?.[0].length ?? 0)
}
