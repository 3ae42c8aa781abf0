/** The flags between `%` and the verb. `plusV` and `sharpV` are `+` and `#` before the verb `v`. */
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

/** Pads a text to the width in code points, with zeros if the flag is set, else with spaces. */
export function padText(text: string, flags: FormatFlags): string {
  const fill = fillFor(text, flags, flags.zero && !flags.minus ? '0' : ' ')
  return flags.minus ? text + fill : fill + text
}

/** Pads a text to the width with spaces, if its zeros were already added. */
export function padWithSpaces(text: string, flags: FormatFlags): string {
  const fill = fillFor(text, flags, ' ')
  return flags.minus ? text + fill : fill + text
}

function fillFor(text: string, { width }: FormatFlags, filler: string): string {
  if (width === undefined || width === 0) return ''
  return filler.repeat(Math.max(0, width - codePointCount(text)))
}

/** Returns the length of a text in code points, as in Go and Rego. */
export function codePointCount(text: string): number {
  let count = text.length
  for (let i = 0; i + 1 < text.length; i++) {
    const isPair = (text.charCodeAt(i) & 0xfc00) === 0xd800 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00
    if (isPair) count--
  }
  return count
}
