import { BuiltinError } from '../shared/builtin.js'

/** The alternatives of an open group and the sequence around it. */
interface OpenGroup {
  readonly alternatives: PatternNode[]
  readonly around: Sequence
}

const REPLACEMENT = '\ufffd'
const BREAKS = new Set(['?', '*', '[', '{'])
const BREAKS_IN_GROUP = new Set([...BREAKS, '}', ','])
const BREAKS_IN_LIST = new Set([']'])

/**
 * Parses a glob like OPA: `*`, `**`, `?`, `[abc]`, `[!a-c]`, `{a,b}`, and a backslash before any of
 * these characters. Groups may be left open. A NUL ends a text and is skipped. Throws BuiltinError
 * for an invalid pattern.
 */
export function parsePattern(text: string): Sequence {
  const reader = new PatternReader(text)
  const root: Sequence = { kind: 'pattern', children: [] }
  const open: OpenGroup[] = []
  let sequence = root
  for (let sign = reader.take(); sign !== undefined; sign = reader.take()) {
    const group = open.at(-1)
    if (sign === '{') {
      const first: Sequence = { kind: 'pattern', children: [] }
      const alternatives: PatternNode[] = [first]
      sequence.children.push({ kind: 'any-of', children: alternatives })
      open.push({ alternatives, around: sequence })
      sequence = first
    } else if (sign === ',' && group !== undefined) {
      sequence = { kind: 'pattern', children: [] }
      group.alternatives.push(sequence)
    } else if (sign === '}' && group !== undefined) {
      open.pop()
      sequence = group.around
    } else if (sign === '[') sequence.children.push(readClass(reader))
    else if (sign === '?') sequence.children.push({ kind: 'single' })
    else if (sign === '*') sequence.children.push({ kind: reader.skip('*') ? 'super' : 'any' })
    else {
      reader.back()
      const literal = reader.readText(group === undefined ? BREAKS : BREAKS_IN_GROUP)
      if (literal !== '') sequence.children.push({ kind: 'text', text: literal })
    }
  }
  return root
}

/** Parses a class after its opening bracket. */
function readClass(reader: PatternReader): PatternNode {
  let first = reader.require()
  const isNegated = first === '!'
  if (isNegated) first = reader.require()
  if (reader.skip('-')) {
    const low = first.codePointAt(0) ?? 0
    const high = reader.require().codePointAt(0) ?? 0
    if (reader.require() !== ']') throw new BuiltinError('expected close range character')
    if (high < low) {
      const [from, to] = [low, high].map((code) => String.fromCodePoint(code))
      throw new BuiltinError(`hi character '${to}' should be greater than lo '${from}'`)
    }
    return { kind: 'range', low, high, isNegated }
  }
  reader.back()
  const characters = reader.readText(BREAKS_IN_LIST)
  if (reader.require() !== ']') throw new BuiltinError('expected close range character')
  if (characters === '') throw new BuiltinError('could not parse range')
  return { kind: 'list', characters, isNegated }
}

class PatternReader {
  readonly #characters: readonly string[]
  #at = 0

  constructor(text: string) {
    this.#characters = Array.from(text)
  }

  /** Returns the next character; undefined at the end and at a NUL. */
  take(): string | undefined {
    const character = this.#characters[this.#at]
    if (character === undefined) return undefined
    if (character === REPLACEMENT) throw new BuiltinError('could not read rune')
    this.#at++
    return character === '\0' ? undefined : character
  }

  require(): string {
    const character = this.take()
    if (character === undefined) throw new BuiltinError('unexpected end of input')
    return character
  }

  skip(character: string): boolean {
    const next = this.#characters[this.#at]
    if (next === REPLACEMENT) throw new BuiltinError('could not read rune')
    if (next !== character) return false
    this.#at++
    return true
  }

  back(): void {
    this.#at--
  }

  /** Reads a text up to one of `breaks`, the end, or a NUL, which is skipped. */
  readText(breaks: ReadonlySet<string>): string {
    let text = ''
    let isEscaped = false
    for (let character = this.take(); character !== undefined; character = this.take()) {
      if (!isEscaped && character === '\\') {
        isEscaped = true
        continue
      }
      if (!isEscaped && breaks.has(character)) {
        this.back()
        return text
      }
      isEscaped = false
      text += character
    }
    return text
  }
}

export type PatternNode =
  | { readonly kind: 'pattern'; readonly children: PatternNode[] }
  | { readonly kind: 'any-of'; readonly children: PatternNode[] }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'list'; readonly characters: string; readonly isNegated: boolean }
  | { readonly kind: 'range'; readonly low: number; readonly high: number; readonly isNegated: boolean }
  | { readonly kind: 'any' | 'super' | 'single' | 'nothing' }

export type Sequence = Extract<PatternNode, { kind: 'pattern' }>

/** Returns true if two nodes are spelled the same, including the order of lists. */
export function equalNodes(a: PatternNode, b: PatternNode): boolean {
  if (a.kind === 'text' && b.kind === 'text') return a.text === b.text
  if (a.kind === 'list' && b.kind === 'list')
    return a.characters === b.characters && a.isNegated === b.isNegated
  if (a.kind === 'range' && b.kind === 'range')
    return a.low === b.low && a.high === b.high && a.isNegated === b.isNegated
  if (!hasChildren(a) || !hasChildren(b) || a.kind !== b.kind) return !hasChildren(a) && a.kind === b.kind
  const others = b.children
  return (
    a.children.length === others.length &&
    a.children.every((child, index) => {
      const other = others[index]
      return other !== undefined && equalNodes(child, other)
    })
  )
}

function hasChildren(node: PatternNode): node is Extract<PatternNode, { children: PatternNode[] }> {
  return node.kind === 'pattern' || node.kind === 'any-of'
}
