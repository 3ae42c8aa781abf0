/** Raised inside the time parser only: the value does not look like the layout's element. */
export class LayoutMismatch extends Error {}

/** Raised inside the time parser only: a number that its field cannot have. */
export class FieldOutOfRange extends Error {
  readonly field: string

  constructor(field: string) {
    super(field)
    this.field = field
  }
}

/** The part of a value that is still to be read against a layout. */
export class TimeText {
  rest: string

  constructor(text: string) {
    this.rest = text
  }

  /** Exactly so many characters. */
  take(count: number): string {
    if (this.rest.length < count) throw new LayoutMismatch()
    const taken = this.rest.slice(0, count)
    this.rest = this.rest.slice(count)
    return taken
  }

  /** This sign, when it comes next. */
  takeIf(sign: string): boolean {
    if (!this.rest.startsWith(sign)) return false
    this.rest = this.rest.slice(sign.length)
    return true
  }

  /** As many digits as there are, up to `most`. */
  takeNumber(least: number, most: number): number {
    const digits = Math.min(this.digitsFrom(0, most), most)
    if (digits < least) throw new LayoutMismatch()
    return Number(this.take(digits))
  }

  /** A number of one or two digits, of two when the layout pads it. */
  takeShortNumber(isPadded: boolean): number {
    return this.takeNumber(isPadded ? 2 : 1, 2)
  }

  takeNumberBelow(limit: number, field: string, isPadded: boolean): number {
    const value = this.takeShortNumber(isPadded)
    if (value >= limit) throw new FieldOutOfRange(field)
    return value
  }

  /** The index of the name that comes next, in any case of letters. */
  takeName(names: readonly string[], length?: number): number {
    const index = names.findIndex((name) => {
      const wanted = name.slice(0, length)
      return this.rest.slice(0, wanted.length).toLowerCase() === wanted.toLowerCase()
    })
    if (index < 0) throw new LayoutMismatch()
    this.take(names[index]?.slice(0, length).length ?? 0)
    return index
  }

  /** Text of the layout: a run of spaces there stands for any run here, even none at the end of the value. */
  takeLiteral(literal: string): void {
    for (const piece of literal.match(/ +|[^ ]+/g) ?? []) {
      if (piece.startsWith(' ')) this.#takeSpaces()
      else this.#takeCommon(piece)
    }
  }

  /** How many digits stand from an offset on, counting no further than `most`. */
  digitsFrom(start: number, most = Infinity): number {
    let count = 0
    while (count < most && isDigit(this.rest.charCodeAt(start + count))) count++
    return count
  }

  #takeSpaces(): void {
    if (this.rest !== '' && !this.rest.startsWith(' ')) throw new LayoutMismatch()
    this.rest = this.rest.replace(/^ +/, '')
  }

  /** What agrees is taken even when the rest does not: Go's message shows only what is left. */
  #takeCommon(piece: string): void {
    let agreed = 0
    while (agreed < piece.length && piece[agreed] === this.rest[agreed]) agreed++
    this.rest = this.rest.slice(agreed)
    if (agreed < piece.length) throw new LayoutMismatch()
  }
}

function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39
}

/** Quotes a text as the errors of Go's time package do: bytes outside printable ASCII in hexadecimal. */
export function quoteTimeText(text: string): string {
  const escaped = text.replace(/["\\]|[^\u0020-\u007f]+/g, (found) =>
    found === '"' || found === '\\' ? `\\${found}` : hexOf(found),
  )
  return `"${escaped}"`
}

function hexOf(text: string): string {
  return Buffer.from(text, 'utf8').toString('hex').replace(/../g, '\\x$&')
}
