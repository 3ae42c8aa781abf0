/** What a character does to the word it stands in. */
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

/** The class of a UTF-16 code unit; all beyond ASCII are letters, except for the spaces people paste. */
export function characterClass(code: number): number {
  if (code < ASCII) return CLASSES[code] ?? CHARACTER.joiner
  return code === 0xa0 || code === 0x3000 ? CHARACTER.space : CHARACTER.letter
}
