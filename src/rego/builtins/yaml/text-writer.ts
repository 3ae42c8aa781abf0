import type { WorkMeter } from '../../metering/work-meter.js'
import { ensureResultLength } from '../shared/call-costs.js'
import { readPlainScalar } from './plain-scalar.js'

export type ScalarStyle = 'plain' | 'single' | 'double' | 'literal'

const BASE_60 = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/

/** Returns Go yaml's style: plain if it parses to the same string, else quoted or literal. */
export function chooseStyle(text: string, isSimpleKey: boolean): ScalarStyle {
  const analysis = analyseScalar(text)
  if (text.includes('\n')) return analysis.literal && !isSimpleKey ? 'literal' : 'double'
  // As in Go, a string that spells a merge key stays plain.
  if (!/^(?:text|merge)$/.test(readPlainScalar(text).kind) || BASE_60.test(text)) return 'double'
  if (analysis.plain) return 'plain'
  return analysis.singleQuoted ? 'single' : 'double'
}

/** Cost in evaluation steps per written character: indentation multiplies the length of a value. */
const CHARACTER_STEPS = 0.3
/** libyaml breaks a line at the next space after this column. */
const BEST_WIDTH = 80

const ESCAPES: Readonly<Record<string, string>> = {
  '\0': '0',
  '\x07': 'a',
  '\b': 'b',
  '\t': 't',
  '\n': 'n',
  '\v': 'v',
  '\f': 'f',
  '\r': 'r',
  '\x1b': 'e',
  '"': '"',
  '\\': '\\',
  '\u0085': 'N',
  '\u00a0': '_',
  '\u2028': 'L',
  '\u2029': 'P',
}
const MUST_ESCAPE = /[^\x20-\x7e\u00a0-\ud7ff\ue000-\ufefe\uff00-\ufffd]|["\\\u2028\u2029]/gu

const BYTE_ORDER_MARK = '\ufeff'

const LINE_ENDS = /[\u2028\u2029]+/g

/** The output, with the current column, which determines where long scalars are folded. */
export class TextWriter {
  readonly #meter: WorkMeter
  readonly #pieces: string[] = []
  #column = 0
  #length = 0

  constructor(meter: WorkMeter) {
    this.#meter = meter
  }

  text(): string {
    return this.#pieces.join('')
  }

  write(text: string): void {
    this.#push(text)
    this.#column += Array.from(text).length
  }

  newLine(indent: number): void {
    this.#push(`\n${' '.repeat(indent)}`)
    this.#column = indent
  }

  #push(text: string): void {
    this.#length += text.length
    this.#meter.spend(text.length * CHARACTER_STEPS)
    ensureResultLength(this.#length, this.#meter)
    this.#pieces.push(text)
  }

  /** Writes a scalar in a style. Without an indent it stays on one line. */
  writeStyled(text: string, style: ScalarStyle, indent: number | undefined): void {
    switch (style) {
      case 'plain':
        this.#writeFolded(text.split(' '), indent, false)
        break
      case 'single':
        this.write("'")
        this.#writeFolded(text.replaceAll("'", "''").split(' '), indent, true)
        this.write("'")
        break
      case 'double':
        this.write('"')
        this.#writeDouble(escapedWords(text), indent)
        this.write('"')
        break
      case 'literal':
        this.#writeLiteral(text, indent ?? 0)
    }
  }

  /** Writes words separated by spaces. Empty words are runs of spaces, never broken. */
  #writeFolded(words: readonly string[], indent: number | undefined, isQuoted: boolean): void {
    for (const [i, word] of words.entries()) {
      if (i > 0) {
        const isSingleSpace = word !== '' && words[i - 1] !== ''
        const isInside = !isQuoted || i < words.length - 1 || word !== ''
        if (indent !== undefined && this.#column > BEST_WIDTH && isSingleSpace && isInside)
          this.newLine(indent)
        else this.write(' ')
      }
      // Text after a line end is indented.
      this.write(isQuoted ? indentLines(word, indent ?? 0) : word)
    }
  }

  #writeDouble(words: readonly string[], indent: number | undefined): void {
    for (const [i, word] of words.entries()) {
      if (i > 0) {
        const isFirstOfRun = words[i - 1] !== '' && !(i === words.length - 1 && word === '')
        if (indent !== undefined && this.#column > BEST_WIDTH && isFirstOfRun) {
          this.newLine(indent)
          if (word === '') this.write('\\')
        } else this.write(' ')
      }
      this.write(word)
    }
  }

  #writeLiteral(text: string, indent: number): void {
    const indentHint = /^[ \n]/.test(text) ? '2' : ''
    const lines = text.split('\n')
    this.write(`|${indentHint}${chompingOf(text)}`)
    if (lines.at(-1) === '') lines.pop()
    for (const line of lines) {
      this.newLine(line === '' ? 0 : indent)
      this.write(line)
    }
  }
}

/** `-` for no line break at the end, `+` for several, empty for one. */
function chompingOf(text: string): string {
  if (!text.endsWith('\n')) return '-'
  return text === '\n' || text.endsWith('\n\n') ? '+' : ''
}

/** Like Go yaml, escapes every byte order mark if the text begins with one. */
function escapedWords(text: string): readonly string[] {
  return text.startsWith(BYTE_ORDER_MARK)
    ? [escapeSigns(text, /./gsu)]
    : text.split(' ').map((word) => escapeSigns(word, MUST_ESCAPE))
}

function escapeSigns(text: string, signs: RegExp): string {
  return text.replace(signs, (sign) => {
    const short = ESCAPES[sign]
    if (short !== undefined) return `\\${short}`
    const code = sign.codePointAt(0) ?? 0
    const digits = code.toString(16).toUpperCase()
    if (code <= 0xff) return `\\x${digits.padStart(2, '0')}`
    return code <= 0xffff ? `\\u${digits.padStart(4, '0')}` : `\\U${digits.padStart(8, '0')}`
  })
}

/** Line ends at the end of the text are not indented. */
function indentLines(text: string, indent: number): string {
  return text.replace(LINE_ENDS, (ends: string, at: number) =>
    at + ends.length === text.length ? ends : ends + ' '.repeat(indent),
  )
}

/** The styles in which a text parses to the same text. */
interface ScalarAnalysis {
  readonly plain: boolean
  readonly singleQuoted: boolean
  readonly literal: boolean
}

const INDICATORS_AT_START = new Set('#,[]{}&*!|>\'"%@`')
/** Characters that libyaml escapes: tab, U+0085, and beyond the basic plane. */
const UNPRINTABLE = /[^\n\x20-\x7e\u00a0-\ud7ff\ue000-\ufefe\uff00-\ufffd]/u
const BREAK = /[\r\n\u0085\u2028\u2029]/

/** libyaml's analysis of a scalar in block context. */
function analyseScalar(text: string): ScalarAnalysis {
  const hasBreak = BREAK.test(text)
  const isSpecial = UNPRINTABLE.test(text) || / [\r\n\u0085\u2028\u2029]/.test(text)
  const hasOuterSpace = /^[ \r\n\u0085\u2028\u2029]|[ \r\n\u0085\u2028\u2029]$/.test(text)
  const hasSpaceAfterBreak = /[\r\n\u0085\u2028\u2029] /.test(text)
  return {
    plain: !isSpecial && !hasBreak && !hasOuterSpace && !hasIndicator(text),
    singleQuoted: !isSpecial && !hasSpaceAfterBreak,
    literal: !isSpecial && !text.endsWith(' '),
  }
}

/** Returns true if a character of the text would be parsed as YAML syntax. */
function hasIndicator(text: string): boolean {
  if (text.startsWith('---') || text.startsWith('...')) return true
  if (INDICATORS_AT_START.has(text.charAt(0))) return true
  if (/^[?:-](?:\s|$)/.test(text)) return true
  return /:(?:\s|$)|\s#/.test(text)
}
