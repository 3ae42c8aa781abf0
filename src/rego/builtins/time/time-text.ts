/** Thrown inside the time parser only: the value does not match an element of the layout. */
export class LayoutMismatch extends Error {}

/** Thrown inside the time parser only: a field is out of range. */
export class FieldOutOfRange extends Error {
  readonly field: string

  constructor(field: string) {
    super(field)
    this.field = field
  }
}

/** The rest of a value that is parsed by a layout. */
export class TimeText {
  rest: string

  constructor(text: string) {
    this.rest = text
  }

  /** Consumes exactly `count` characters. */
  take(count: number): string {
    if (this.rest.length < count) throw new LayoutMismatch()
    const taken = this.rest.slice(0, count)
    this.rest = this.rest.slice(count)
    return taken
  }

  /** Consumes `sign` if it comes next. */
  takeIf(sign: string): boolean {
    if (!this.rest.startsWith(sign)) return false
    this.rest = this.rest.slice(sign.length)
    return true
  }

  /** Consumes as many digits as possible, up to `most`. */
  takeNumber(least: number, most: number): number {
    const digits = Math.min(this.digitsFrom(0, most), most)
    if (digits < least) throw new LayoutMismatch()
    return Number(this.take(digits))
  }

  /** Consumes a number of one or two digits; two if the layout pads it. */
  takeShortNumber(isPadded: boolean): number {
    return this.takeNumber(isPadded ? 2 : 1, 2)
  }

  takeNumberBelow(limit: number, field: string, isPadded: boolean): number {
    const value = this.takeShortNumber(isPadded)
    if (value >= limit) throw new FieldOutOfRange(field)
    return value
  }

  /** Consumes a name, ignoring case, and returns its index. */
  takeName(names: readonly string[], length?: number): number {
    const index = names.findIndex((name) => {
      const wanted = name.slice(0, length)
      return this.rest.slice(0, wanted.length).toLowerCase() === wanted.toLowerCase()
    })
    if (index < 0) throw new LayoutMismatch()
    this.take(names[index]?.slice(0, length).length ?? 0)
    return index
  }

  /** Consumes literal text. A run of spaces matches any run, even none at the end. */
  takeLiteral(literal: string): void {
    for (const piece of literal.match(/ +|[^ ]+/g) ?? []) {
      if (piece.startsWith(' ')) this.#takeSpaces()
      else this.#takeCommon(piece)
    }
  }

  /** Counts the digits from an offset on, up to `most`. */
  digitsFrom(start: number, most = Infinity): number {
    let count = 0
    while (count < most && isDigit(this.rest.charCodeAt(start + count))) count++
    return count
  }

  #takeSpaces(): void {
    if (this.rest !== '' && !this.rest.startsWith(' ')) throw new LayoutMismatch()
    this.rest = this.rest.replace(/^ +/, '')
  }

  /** Consumes the common prefix even on a mismatch: Go's message only shows the rest. */
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

/** Quotes like the errors of Go's time package: unprintable bytes in hexadecimal. */
export function quoteTimeText(text: string): string {
  const escaped = text.replace(/["\\]|[^\u0020-\u007f]+/g, (found) =>
    found === '"' || found === '\\' ? `\\${found}` : hexOf(found),
  )
  return `"${escaped}"`
}

function hexOf(text: string): string {
  return Buffer.from(text, 'utf8').toString('hex').replace(/../g, '\\x$&')
}
