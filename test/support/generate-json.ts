/** A generator of numbers below 1 that gives the same ones for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const NUMBERS =
  '0 -0 1 -1 12 123456789012345678 -123456789012345678 1234567890123456789 99999999999999999999 ' +
  '1.5 -0.0 0.1 1e5 1E+2 2e-3 1.25e10 100'
const TEXTS: readonly string[] = [
  ...['', 'a', 'name', 'stage', 'inputs', '0123456789abcdef', '0123456789abcdefg', 'x'.repeat(40), '\x7f'],
  ...['ä', '€', '😀', '\\u0061', '\\u00e4', '\\ud83d\\ude00', '\\ud800', '\\udc00x', '\\ud800\\u0041'],
  ...['\\n', '\\"', '\\\\', '\\/', '\\b\\f\\r\\t'],
]
const SPACES: readonly string[] = [' ', '\n', '\t\r ']

/**
 * Writes random JSON texts: every form of number and escape, repeated keys, white space anywhere,
 * empty containers.
 */
export class JsonGenerator {
  readonly random: () => number

  constructor(seed: number) {
    this.random = seededRandom(seed)
  }

  below(limit: number): number {
    return Math.floor(this.random() * limit)
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)]!
  }

  space(): string {
    return this.random() < 0.1 ? this.pick(SPACES) : ''
  }

  text(): string {
    const parts = Array.from({ length: this.below(4) }, () => this.pick(TEXTS))
    return `"${parts.join('')}${this.random() < 0.3 ? this.below(1000) : ''}"`
  }

  value(depth: number): string {
    const kind = this.random()
    if (depth === 0 || kind < 0.25) return this.pick(NUMBERS.split(' '))
    if (kind < 0.5) return this.text()
    if (kind < 0.6) return this.pick(['true', 'false', 'null'])
    const size = this.random() < 0.05 ? this.below(60) : this.below(8)
    const element = (): string => `${this.space()}${this.value(depth - 1)}${this.space()}`
    if (kind < 0.8) return `[${this.space()}${Array.from({ length: size }, element).join(',')}]`
    return this.object(size, () => this.text(), depth)
  }

  object(size: number, key: () => string, depth: number): string {
    const member = (): string =>
      `${this.space()}${key()}${this.space()}:${this.space()}${this.value(depth - 1)}${this.space()}`
    return `{${this.space()}${Array.from({ length: size }, member).join(',')}}`
  }

  /** The text with one byte changed, or cut short. */
  damage(text: Buffer): Buffer {
    if (this.random() < 0.3) return text.subarray(0, this.below(text.length))
    const copy = Buffer.from(text)
    const byte = this.random() < 0.5 ? this.below(256) : this.pick([...Buffer.from('{}[]",:\\0e.-u')])
    copy[this.below(copy.length)] = byte
    return copy
  }
}
