import type { WorkMeter } from '../../metering/work-meter.js'
import { isTemplateFunction } from './functions.js'
import { failAt, integerOf, scanTemplate, textOf } from './scan-template.js'
import type { Piece, Token } from './scan-template.js'
import { WHOLE } from './template-node.js'
import type { Command, Operand, Pipeline, TemplateNode, Templates } from './template-node.js'

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

/** Maximum nesting of blocks and of parentheses, which use the call stack. */
const MAX_DEPTH = 500

/**
 * Parses Go's text/template. Throws BuiltinError with Go's message for a mistake, and ends the
 * evaluation if the nesting is too deep.
 */
export function parseTemplate(template: string, meter: WorkMeter): Templates {
  return new TemplateParser(template, meter).parse()
}

class TemplateParser {
  readonly #template: string
  readonly #pieces: readonly Piece[]
  readonly #meter: WorkMeter
  #next = 0
  readonly #templates = new Map<string, readonly TemplateNode[]>()
  #variables: string[] = ['$']
  #ranges = 0
  #tokens: readonly Token[] = []
  #token = 0
  #depth = 0

  constructor(template: string, meter: WorkMeter) {
    this.#template = template
    this.#meter = meter
    this.#pieces = scanTemplate(template)
  }

  parse(): Templates {
    const { nodes, end } = this.#parseList(true)
    if (end !== undefined) this.#fail(`unexpected {{${end}}}`)
    this.#add(WHOLE, nodes)
    return this.#templates
  }

  /** Parses nodes up to `end`, `else` or the end. Leaves the words after `else`. */
  #parseList(isWhole = false): { nodes: TemplateNode[]; end: 'end' | 'else' | undefined } {
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
        if (word === 'end') this.#requireNoMore('end')
        return { nodes, end: word }
      }
      if (word === 'define' && isWhole) this.#parseDefinition()
      else nodes.push(this.#parseAction(word))
    }
    return { nodes, end: undefined }
  }

  #parseAction(word: string | undefined): TemplateNode {
    if (word === undefined || !KEYWORDS.has(word)) {
      const pipeline = this.#parsePipeline('command')
      this.#requireNoMore('command')
      return { kind: 'action', pipeline }
    }
    this.#token++
    if (word === 'break' || word === 'continue') {
      this.#requireNoMore(`{{${word}}}`)
      return this.#ranges > 0 ? { kind: word } : this.#fail(`{{${word}}} outside {{range}}`)
    }
    if (word === 'if' || word === 'with' || word === 'range') return this.#parseBlock(word)
    if (word === 'template' || word === 'block') return this.#parseCall(word)
    return this.#fail(`unexpected {{${word}}}`)
  }

  #parseDefinition(): void {
    this.#token++
    const { name } = this.#parseName('define clause')
    this.#requireNoMore('define clause')
    this.#parseBody(name, 'define')
  }

  /** Parses a call of a template. A block is also defined where it is called. */
  #parseCall(word: 'template' | 'block'): TemplateNode {
    const { name, at } = this.#parseName(`${word} clause`)
    const hasDot = word === 'block' || this.#peek() !== undefined
    const pipeline = hasDot ? this.#parsePipeline(`${word} clause`) : undefined
    this.#requireNoMore(`${word} clause`)
    const said = pipeline === undefined ? '' : ` ${sourceOf(pipeline)}`
    if (word === 'block') this.#parseBody(name, 'block')
    return { kind: 'template', name, pipeline, at, source: `{{template ${JSON.stringify(name)}${said}}}` }
  }

  #parseName(clause: string): { name: string; at: number } {
    const token = this.#peek()
    if (token?.kind !== 'string') return this.#fail(`unexpected "${token?.text ?? '}}'}" in ${clause}`)
    this.#token++
    return { name: textOf(token), at: token.at }
  }

  /** The body has its own scope. */
  #parseBody(name: string, clause: string): void {
    const [variables, ranges] = [this.#variables, this.#ranges]
    this.#variables = ['$']
    this.#ranges = 0
    const { nodes, end } = this.#nested(() => this.#parseList())
    if (end !== 'end')
      this.#fail(end === undefined ? 'unexpected EOF' : `unexpected {{else}} in ${clause} clause`)
    this.#add(name, nodes)
    this.#variables = variables
    this.#ranges = ranges
  }

  /** An empty definition does not replace another one. */
  #add(name: string, nodes: readonly TemplateNode[]): void {
    const known = this.#templates.get(name)
    if (known === undefined || isEmpty(known)) this.#templates.set(name, nodes)
    else if (!isEmpty(nodes)) this.#fail(`template: multiple definition of template ${JSON.stringify(name)}`)
  }

  #nested<T>(parse: () => T): T {
    this.#depth++
    if (this.#depth > MAX_DEPTH) this.#meter.exceed(`a template is nested more than ${MAX_DEPTH} levels deep`)
    const parsed = parse()
    this.#depth--
    return parsed
  }

  #parseBlock(kind: 'if' | 'with' | 'range'): TemplateNode {
    const outer = [...this.#variables]
    const pipeline = this.#parsePipeline(kind)
    this.#requireNoMore(kind)
    if (kind === 'range') this.#ranges++
    const { nodes: body, end } = this.#nested(() => this.#parseList())
    if (kind === 'range') this.#ranges--
    const otherwise = end === 'else' ? this.#parseElse(kind) : []
    if (end === undefined) this.#fail('unexpected EOF')
    this.#variables = outer
    return { kind, pipeline, body, otherwise }
  }

  #parseElse(kind: 'if' | 'with' | 'range'): readonly TemplateNode[] {
    if (this.#peek()?.text === kind && kind !== 'range') {
      this.#token++
      // `else if` shares the end of the outer block.
      return [this.#nested(() => this.#parseBlock(kind))]
    }
    this.#requireNoMore('else')
    const { nodes, end } = this.#parseList()
    if (end === 'else') this.#fail('expected end; found {{else}}')
    return end === undefined ? this.#fail('unexpected EOF') : nodes
  }

  #parsePipeline(owner: string): Pipeline {
    const { names, isDeclaration } = this.#parseVariables(owner)
    const commands: Command[] = []
    do commands.push(this.#parseCommand(owner))
    while (
      // A pipeline must not end with a bar.
      this.#take('|') &&
      this.#peek() !== undefined &&
      this.#peek()?.text !== ')'
    )
    if (isDeclaration) this.#variables.push(...names)
    return { variables: names, isDeclaration, commands }
  }

  #parseVariables(owner: string): { names: string[]; isDeclaration: boolean } {
    const texts = this.#tokens.slice(this.#token, this.#token + 4).map((token) => token.text)
    const names = texts[1] === ',' ? [texts[0], texts[2]] : [texts[0]]
    const sign = texts[names.length === 2 ? 3 : 1]
    if (this.#peek()?.kind !== 'variable' || (sign !== ':=' && sign !== '=')) {
      return { names: [], isDeclaration: false }
    }
    if (names.length === 2 && owner !== 'range') this.#fail(`too many declarations in ${owner}`)
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
    if (token.text === '.') this.#fail('unexpected . after term "."')
    const source = `${start.source}.${fields.join('.')}`
    if (start.kind !== 'path') return { kind: 'path', root: start, fields, at: fieldsAt, source }
    return { ...start, fields: [...start.fields, ...fields], at: fieldsAt, source }
  }

  #parseTerm(token: Token): Operand {
    this.#token++
    const position = { at: token.at, source: token.text }
    switch (token.kind) {
      case 'field':
        return { kind: 'path', root: undefined, fields: [token.text.slice(1)], ...position }
      case 'variable':
        if (!this.#variables.includes(token.text)) this.#fail(`undefined variable "${token.text}"`)
        return { kind: 'path', root: token.text, fields: [], ...position }
      case 'number':
        return this.#number(token.text, position)
      case 'string':
      case 'character':
        return this.#quoted(token, position)
      case 'word':
        return this.#word(token.text, position)
      case 'sign':
        return token.text === '(' ? this.#parenthesised(position) : this.#dot(token.text, position)
    }
  }

  #number(text: string, position: { at: number; source: string }): Operand {
    const digits = text.replace(/(?<=[\dx])_(?=[\da-f])/gi, '')
    if (/^[-+]?\d+$/.test(digits)) return { kind: 'integer', value: integerOf(digits), ...position }
    const value = Number(digits)
    return Number.isNaN(value)
      ? this.#fail(`bad number syntax: "${text}"`)
      : { kind: 'float', value, ...position }
  }

  #quoted(token: Token, position: { at: number; source: string }): Operand {
    const value = textOf(token)
    if (token.kind === 'character' && Array.from(value).length !== 1) {
      this.#fail(`malformed character constant: ${token.text}`)
    }
    if (token.kind === 'string') return { kind: 'string', value, ...position }
    return { kind: 'integer', value: BigInt(value.codePointAt(0) ?? 0), ...position }
  }

  #word(name: string, position: { at: number; source: string }): Operand {
    if (name === 'true' || name === 'false') return { kind: 'boolean', value: name === 'true', ...position }
    if (name === 'nil') return { kind: 'nil', ...position }
    if (!isTemplateFunction(name)) this.#fail(`function "${name}" not defined`)
    return { kind: 'function', name, ...position }
  }

  #parenthesised(position: { at: number; source: string }): Operand {
    const pipeline = this.#nested(() => this.#parsePipeline('parenthesized pipeline'))
    if (!this.#take(')')) this.#fail('unclosed left paren')
    return { kind: 'pipeline', pipeline, at: position.at, source: `(${sourceOf(pipeline)})` }
  }

  #dot(sign: string, position: { at: number; source: string }): Operand {
    if (sign !== '.') this.#fail(`unexpected "${sign}" in operand`)
    return { kind: 'path', root: undefined, fields: [], ...position }
  }

  #requireNoMore(clause: string): void {
    const more = this.#peek()
    if (more !== undefined) this.#fail(`unexpected ${JSON.stringify(more.text)} in ${clause}`)
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

function sourceOf({ commands }: Pipeline): string {
  return commands.map(({ source }) => source).join(' | ')
}

function isEmpty(nodes: readonly TemplateNode[]): boolean {
  return nodes.every((node) => node.kind === 'text' && node.text.trim() === '')
}
