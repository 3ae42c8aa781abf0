import type { WorkMeter } from '../../metering/work-meter.js'
import { isTemplateFunction } from './functions.js'
import { failAt, scanTemplate } from './scan-template.js'
import type { Piece, Token } from './scan-template.js'
import type { Command, Operand, Pipeline, TemplateNode } from './template-node.js'

const KEYWORDS = new Set([
  'if',
  'with',
  'range',
  'else',
  'end',
  'break',
  'continue',
  'define',
  'template',
  'block',
])
const UNSUPPORTED = new Set(['define', 'template', 'block'])

/**
 * Reads the part of Go's text/template that policies use. Raises BuiltinError with Go's text where it is a mistake, and ends the evaluation where OPA would
 * have gone on.
 */
export function parseTemplate(template: string, meter: WorkMeter): readonly TemplateNode[] {
  return new TemplateParser(template, meter).parse()
}

class TemplateParser {
  readonly #template: string
  readonly #pieces: readonly Piece[]
  readonly #meter: WorkMeter
  #next = 0
  #variables: string[] = ['$']
  #tokens: readonly Token[] = []
  #token = 0

  constructor(template: string, meter: WorkMeter) {
    this.#template = template
    this.#meter = meter
    this.#pieces = scanTemplate(template)
  }

  parse(): readonly TemplateNode[] {
    const { nodes, end } = this.#parseList()
    return end === undefined ? nodes : this.#fail(`unexpected {{${end}}}`)
  }

  /** Nodes up to `end` or `else`, or to the end of the template. The words after `else` stay to be read. */
  #parseList(): { nodes: TemplateNode[]; end: 'end' | 'else' | undefined } {
    const nodes: TemplateNode[] = []
    for (let piece = this.#pieces[this.#next++]; piece !== undefined; piece = this.#pieces[this.#next++]) {
      if ('text' in piece) {
        nodes.push({ kind: 'text', text: piece.text })
        continue
      }
      this.#tokens = piece.tokens
      this.#token = 0
      const word = this.#peek()?.text
      if (word === 'end' || word === 'else') {
        this.#token++
        return { nodes, end: word }
      }
      nodes.push(this.#parseAction(word))
    }
    return { nodes, end: undefined }
  }

  #parseAction(word: string | undefined): TemplateNode {
    if (word === undefined || !KEYWORDS.has(word))
      return { kind: 'action', pipeline: this.#parsePipeline('command') }
    this.#token++
    if (word === 'break' || word === 'continue') return { kind: word }
    if (word === 'if' || word === 'with' || word === 'range') return this.#parseBlock(word)
    if (UNSUPPORTED.has(word)) this.#meter.exceed(`{{${word}}} in a template is not supported`)
    return this.#fail(`unexpected {{${word}}}`)
  }

  #parseBlock(kind: 'if' | 'with' | 'range'): TemplateNode {
    const outer = [...this.#variables]
    const pipeline = this.#parsePipeline(kind)
    const { nodes: body, end } = this.#parseList()
    const otherwise = end === 'else' ? this.#parseElse(kind) : []
    if (end === undefined) this.#fail('unexpected EOF')
    this.#variables = outer
    return { kind, pipeline, body, otherwise }
  }

  #parseElse(kind: 'if' | 'with' | 'range'): readonly TemplateNode[] {
    if (this.#peek()?.text === kind && kind !== 'range') {
      this.#token++
      // `else if` shares the end of the outer block.
      return [this.#parseBlock(kind)]
    }
    const { nodes, end } = this.#parseList()
    if (end === 'else') this.#fail('expected end; found {{else}}')
    return end === undefined ? this.#fail('unexpected EOF') : nodes
  }

  #parsePipeline(owner: string): Pipeline {
    const { names, isDeclaration } = this.#parseVariables()
    const commands: Command[] = []
    do commands.push(this.#parseCommand(owner))
    while (this.#take('|'))
    if (isDeclaration) this.#variables.push(...names)
    return { variables: names, isDeclaration, commands }
  }

  #parseVariables(): { names: string[]; isDeclaration: boolean } {
    const texts = this.#tokens.slice(this.#token, this.#token + 4).map((token) => token.text)
    const names = texts[1] === ',' ? [texts[0], texts[2]] : [texts[0]]
    const sign = texts[names.length === 2 ? 3 : 1]
    if (this.#peek()?.kind !== 'variable' || (sign !== ':=' && sign !== '=')) {
      return { names: [], isDeclaration: false }
    }
    this.#token += names.length * 2
    return { names: names.map((name) => name ?? ''), isDeclaration: sign === ':=' }
  }

  #parseCommand(owner: string): Command {
    const first = this.#peek()
    const operands: Operand[] = []
    for (
      let token = first;
      token !== undefined && token.text !== '|' && token.text !== ')';
      token = this.#peek()
    ) {
      operands.push(this.#parseOperand(token))
    }
    if (first === undefined || operands.length === 0) return this.#fail(`missing value for ${owner}`)
    return {
      operands,
      at: operands[0]?.at ?? first.at,
      source: operands.map(({ source }) => source).join(' '),
    }
  }

  #parseOperand(token: Token): Operand {
    const start = this.#parseTerm(token)
    const fields: string[] = []
    let fieldsAt = start.at
    for (let next = this.#peek(); next?.kind === 'field' && next.isAttached; next = this.#peek()) {
      if (fields.length === 0) fieldsAt = next.at
      fields.push(next.text.slice(1))
      this.#token++
    }
    if (fields.length === 0) return start
    const source = `${start.source}.${fields.join('.')}`
    if (start.kind !== 'path') return { kind: 'path', root: start, fields, at: fieldsAt, source }
    return { ...start, fields: [...start.fields, ...fields], at: fieldsAt, source }
  }

  #parseTerm(token: Token): Operand {
    this.#token++
    const place = { at: token.at, source: token.text }
    switch (token.kind) {
      case 'field':
        return { kind: 'path', root: undefined, fields: [token.text.slice(1)], ...place }
      case 'variable':
        if (!this.#variables.includes(token.text)) this.#fail(`undefined variable "${token.text}"`)
        return { kind: 'path', root: token.text, fields: [], ...place }
      case 'number':
        return this.#number(token.text, place)
      case 'string':
      case 'character':
        return this.#quoted(token, place)
      case 'word':
        return this.#word(token.text, place)
      case 'sign':
        return token.text === '(' ? this.#parenthesised(place) : this.#dot(token.text, place)
    }
  }

  #number(text: string, place: { at: number; source: string }): Operand {
    const digits = text.replace(/(?<=[\dx])_(?=[\da-f])/gi, '')
    if (/^[-+]?\d+$/.test(digits))
      return { kind: 'integer', value: BigInt(digits.replace('+', '')), ...place }
    const value = Number(digits)
    return Number.isNaN(value)
      ? this.#fail(`bad number syntax: "${text}"`)
      : { kind: 'float', value, ...place }
  }

  #quoted(token: Token, place: { at: number; source: string }): Operand {
    const inner = token.text.slice(1, -1)
    const value = token.text.startsWith('`') ? inner : unescape(inner)
    if (token.kind === 'string') return { kind: 'string', value, ...place }
    return { kind: 'integer', value: BigInt(value.codePointAt(0) ?? 0), ...place }
  }

  #word(name: string, place: { at: number; source: string }): Operand {
    if (name === 'true' || name === 'false') return { kind: 'boolean', value: name === 'true', ...place }
    if (name === 'nil') return { kind: 'nil', ...place }
    if (!isTemplateFunction(name)) this.#fail(`function "${name}" not defined`)
    return { kind: 'function', name, ...place }
  }

  #parenthesised(place: { at: number; source: string }): Operand {
    const pipeline = this.#parsePipeline('parenthesized pipeline')
    if (!this.#take(')')) this.#fail('unclosed left paren')
    const source = `(${pipeline.commands.map((command) => command.source).join(' | ')})`
    return { kind: 'pipeline', pipeline, at: place.at, source }
  }

  #dot(sign: string, place: { at: number; source: string }): Operand {
    if (sign !== '.') this.#fail(`unexpected "${sign}" in operand`)
    return { kind: 'path', root: undefined, fields: [], ...place }
  }

  #peek(): Token | undefined {
    return this.#tokens[this.#token]
  }

  #take(sign: string): boolean {
    if (this.#peek()?.text !== sign) return false
    this.#token++
    return true
  }

  #fail(problem: string): never {
    return failAt(this.#template, this.#peek()?.at ?? this.#tokens.at(-1)?.at ?? 0, problem)
  }
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
