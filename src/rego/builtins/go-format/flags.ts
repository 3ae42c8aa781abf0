/** What is between `%` and the verb. `plusV` and `sharpV` are `+` and `#` before the verb `v`. */
export interface FormatFlags {
  width: number | undefined
  precision: number | undefined
  minus: boolean
  plus: boolean
  sharp: boolean
  space: boolean
  zero: boolean
  plusV: boolean
  sharpV: boolean
}

export function noFlags(): FormatFlags {
  return {
    width: undefined,
    precision: undefined,
    minus: false,
    plus: false,
    sharp: false,
    space: false,
    zero: false,
    plusV: false,
    sharpV: false,
  }
}

/** Fills up to the width, counted in code points: with zeros when the flag asks for them, else with spaces. */
export function padText(text: string, flags: FormatFlags): string {
  const fill = fillFor(text, flags, flags.zero && !flags.minus ? '0' : ' ')
  return flags.minus ? text + fill : fill + text
}

/** Fills up to the width with spaces, for texts that have taken their zeros already. */
export function padWithSpaces(text: string, flags: FormatFlags): string {
  const fill = fillFor(text, flags, ' ')
  return flags.minus ? text + fill : fill + text
}

function fillFor(text: string, { width }: FormatFlags, filler: string): string {
  if (width === undefined || width === 0) return ''
  return filler.repeat(Math.max(0, width - codePointCount(text)))
}

/** The length of a text in code points, as Go and Rego count. */
export function codePointCount(text: string): number {
  let count = text.length
  for (let i = 0; i + 1 < text.length; i++) {
    const isPair = (text.charCodeAt(i) & 0xfc00) === 0xd800 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00
    if (isPair) count--
  }
  return count
}
