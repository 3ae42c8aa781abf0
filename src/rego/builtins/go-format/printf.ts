import type { WorkMeter } from '../../metering/work-meter.js'
import type { FormatFlags } from './flags.js'
import { noFlags } from './flags.js'
import { formatArgument } from './verbs.js'
import type { GoArgument } from './verbs.js'
import { ensureResultLength } from '../shared/call-costs.js'

/** The maximum width, precision and index in Go. */
const MAX_NUMBER = 1_000_000
/** Cost in evaluation steps per directive, and per unit of its width and precision. */
const DIRECTIVE_STEPS = 25
const WIDTH_STEPS = 0.2
const PRECISION_STEPS = 7
/** Cost in evaluation steps per character of a string argument, by verb; 1 for other verbs. */
const CHARACTER_STEPS: Readonly<Record<string, number>> = { s: 0.5, v: 0.5, q: 20, x: 32, X: 32 }
/** Cost in evaluation steps per hex digit of a large integer that is converted to another base. */
const DIGIT_STEPS = 40
const FLAG_NAMES = { '#': 'sharp', '0': 'zero', '+': 'plus', '-': 'minus', ' ': 'space' } as const

/**
 * Go's fmt.Sprintf with flags, width, precision, `*` and `[n]`, and its marks for wrong calls
 * (`%!d(string=x)`, `%!s(MISSING)`, `%!(EXTRA int=1)`). Ends the evaluation if the result becomes
 * too long.
 */
export function formatGo(format: string, args: readonly GoArgument[], meter: WorkMeter): string {
  return new Printf(format, args, meter).run()
}

class Printf {
  readonly #format: string
  readonly #args: readonly GoArgument[]
  readonly #meter: WorkMeter
  readonly #lastBracket: number
  #at = 0
  #argument = 0
  #isIndexGood = true
  #isAfterIndex = false
  #wasReordered = false
  #output = ''

  constructor(format: string, args: readonly GoArgument[], meter: WorkMeter) {
    this.#meter = meter
    this.#format = format
    // Avoids a search to the end for every `[` that is not closed.
    this.#lastBracket = format.lastIndexOf(']')
    this.#args = args
  }

  run(): string {
    while (this.#at < this.#format.length) {
      const percent = this.#format.indexOf('%', this.#at)
      const end = percent < 0 ? this.#format.length : percent
      this.#write(this.#format.slice(this.#at, end))
      this.#at = end + 1
      if (percent >= 0) this.#directive()
    }
    if (!this.#wasReordered && this.#argument < this.#args.length) this.#writeExtra()
    return this.#output
  }

  #directive(): void {
    this.#isIndexGood = true
    const flags = this.#readFlags()
    this.#readIndex()
    this.#readWidth(flags)
    // A dot at the end of the format is a verb.
    const hasPrecision = this.#format[this.#at] === '.' && this.#at + 1 < this.#format.length
    if (hasPrecision) this.#readPrecision(flags)
    if (!this.#isAfterIndex) this.#readIndex()
    const codePoint = this.#format.codePointAt(this.#at)
    if (codePoint === undefined) {
      this.#write('%!(NOVERB)')
      return
    }
    const verb = String.fromCodePoint(codePoint)
    this.#at += verb.length
    this.#write(this.#formatVerb(verb, flags))
  }

  #formatVerb(verb: string, flags: FormatFlags): string {
    if (verb === '%') return '%'
    if (!this.#isIndexGood) return `%!${verb}(BADINDEX)`
    const argument = this.#args[this.#argument]
    if (argument === undefined) return `%!${verb}(MISSING)`
    this.#argument++
    this.#pay(argument, verb, flags)
    if (verb !== 'v') return formatArgument(argument, verb, flags)
    const { plus, sharp } = flags
    return formatArgument(argument, verb, { ...flags, plus: false, sharp: false, plusV: plus, sharpV: sharp })
  }

  #pay(argument: GoArgument, verb: string, { width = 0, precision = 0 }: FormatFlags): void {
    const { value } = argument
    const steps =
      typeof value === 'string'
        ? value.length * (CHARACTER_STEPS[verb] ?? 1)
        : typeof value === 'bigint' && argument.type === '*big.Int'
          ? value.toString(16).length * DIGIT_STEPS
          : 0
    this.#meter.spend(DIRECTIVE_STEPS + steps + width * WIDTH_STEPS + precision * PRECISION_STEPS)
  }

  #readFlags(): FormatFlags {
    const flags = noFlags()
    for (; this.#at < this.#format.length; this.#at++) {
      const sign = this.#format.charAt(this.#at)
      if (!isFlagSign(sign)) break
      flags[FLAG_NAMES[sign]] = true
    }
    return flags
  }

  #readWidth(flags: FormatFlags): void {
    if (this.#format[this.#at] !== '*') {
      flags.width = this.#readNumber()
      if (this.#isAfterIndex && flags.width !== undefined) this.#isIndexGood = false
      return
    }
    const width = this.#takeIntegerArgument()
    if (width === undefined) this.#write('%!(BADWIDTH)')
    else if (width < 0) {
      flags.minus = true
      flags.zero = false
    }
    flags.width = width === undefined ? undefined : Math.abs(width)
  }

  #readPrecision(flags: FormatFlags): void {
    this.#at++
    if (this.#isAfterIndex) this.#isIndexGood = false
    this.#readIndex()
    if (this.#format[this.#at] !== '*') {
      flags.precision = this.#readNumber() ?? 0
      return
    }
    const precision = this.#takeIntegerArgument()
    if (precision === undefined || precision < 0) this.#write('%!(BADPREC)')
    else flags.precision = precision
  }

  /** Skips the `*` and returns its argument; undefined if that is not an integer in range. */
  #takeIntegerArgument(): number | undefined {
    this.#at++
    this.#isAfterIndex = false
    const argument = this.#args[this.#argument]
    if (argument === undefined) return undefined
    this.#argument++
    if (argument.type !== 'int' && argument.type !== 'int64') return undefined
    const value = Number(argument.value)
    return Math.abs(value) > MAX_NUMBER ? undefined : value
  }

  /** Reads an explicit argument index such as `[2]`, if there is one. */
  #readIndex(): void {
    this.#isAfterIndex = false
    if (this.#format[this.#at] !== '[') return
    this.#wasReordered = true
    const close = this.#at < this.#lastBracket ? this.#format.indexOf(']', this.#at) : -1
    if (close < 0) {
      this.#at++
      this.#isIndexGood = false
      return
    }
    const text = this.#format.slice(this.#at + 1, close)
    this.#at = close + 1
    const isNumber = /^\d+$/.test(text) && Number(text) <= MAX_NUMBER
    this.#isAfterIndex = isNumber
    const index = Number(text) - 1
    if (isNumber && index >= 0 && index < this.#args.length) this.#argument = index
    else this.#isIndexGood = false
  }

  #readNumber(): number | undefined {
    const start = this.#at
    let value = 0
    for (; /^\d$/.test(this.#format.charAt(this.#at)); this.#at++) {
      value = value * 10 + Number(this.#format[this.#at])
      if (value <= MAX_NUMBER) continue
      // As in Go, a number out of range consumes the rest of the format.
      this.#at = this.#format.length
      return undefined
    }
    return this.#at === start ? undefined : value
  }

  #writeExtra(): void {
    const extra = this.#args.slice(this.#argument)
    for (const argument of extra) this.#pay(argument, 'v', noFlags())
    const texts = extra.map((argument) => `${argument.type}=${formatArgument(argument, 'v', noFlags())}`)
    this.#write(`%!(EXTRA ${texts.join(', ')})`)
  }

  #write(text: string): void {
    ensureResultLength(this.#output.length + text.length, this.#meter)
    this.#output += text
  }
}

function isFlagSign(sign: string): sign is keyof typeof FLAG_NAMES {
  return sign in FLAG_NAMES
}
