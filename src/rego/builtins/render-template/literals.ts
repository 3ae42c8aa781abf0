import type { Token } from './scan-template.js'

/** A whole number as Go writes it: of eights with a zero in front. */
export function integerOf(digits: string): bigint {
  const unsigned = digits.replace(/^[-+]/, '')
  const value = BigInt(/^0[0-7]+$/.test(unsigned) ? `0o${unsigned}` : unsigned)
  return digits.startsWith('-') ? -value : value
}

/** The value of a token in quotes. */
export function textOf({ text }: Token): string {
  const inner = text.slice(1, -1)
  return text.startsWith('`') ? inner : unescape(inner)
}

const ESCAPES: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
}

function unescape(text: string): string {
  return text.replace(
    /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))/gu,
    (_all, x, u, wide, sign) => {
      const code = [x, u, wide].find((digits): digits is string => typeof digits === 'string')
      if (code !== undefined) return String.fromCodePoint(Math.min(parseInt(code, 16), 0x10ffff))
      const letter = String(sign)
      return ESCAPES[letter] ?? letter
    },
  )
}
