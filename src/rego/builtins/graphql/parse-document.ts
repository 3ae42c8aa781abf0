import { Kind, TokenKind } from 'graphql'
import type {
  ArgumentNode,
  ConstArgumentNode,
  ConstValueNode,
  DefinitionNode,
  DocumentNode,
  InterfaceTypeExtensionNode,
  SelectionSetNode,
  Token,
  TypeNode,
  ValueNode,
  VariableDefinitionNode,
} from 'graphql'
import { GraphQLError } from 'graphql/error/GraphQLError.js'
import { Lexer } from 'graphql/language/lexer.js'
import { Parser } from 'graphql/language/parser.js'
import { Source } from 'graphql/language/source.js'

import type { WorkMeter } from '../../metering/work-meter.js'
import { BuiltinError } from '../shared/builtin.js'
import { tokenPosition } from './schema/source-position.js'

/**
 * Parses a GraphQL document of operations and fragments, or a schema. Throws BuiltinError with
 * OPA's message and position for a syntax error.
 */
export function parseDocument(text: string, grammar: Grammar, meter: WorkMeter): DocumentNode {
  try {
    return new DocumentParser(text, grammar, meter).parseDocument()
  } catch (raw) {
    if (!(raw instanceof GraphQLError)) throw raw
    throw new BuiltinError(describe(raw, text))
  }
}

function describe(error: GraphQLError, text: string): string {
  const offset = error.positions?.[0] ?? 0
  const [previous, token] = tokensAt(text, offset)
  const [location] = error.locations ?? []
  const { line, column } =
    token === undefined ? { line: location?.line, column: location?.column } : tokenPosition(token)
  return `${problem(error, previous, token)} in GraphQL string at location ${line}:${column}`
}

/** gqlparser writes punctuation without quotes and has one message for any invalid token. */
function problem({ message }: GraphQLError, previous: Token | undefined, token: Token | undefined): string {
  if (token === undefined) return 'Unexpected <Invalid>'
  if (previous !== undefined && isEmptyPair(previous, token)) {
    return `expected at least one definition, found ${token.kind}`
  }
  if (message.includes('Unexpected variable')) return 'Unexpected $'
  return message
    .replace(/^Syntax Error: |\.$/g, '')
    .replaceAll(/"([^\w\s"]+)"/g, '$1')
    .replace(/^(?<expectation>Expected .*, found \w+) ".*"$/s, '$<expectation>')
}

const CLOSING: Readonly<Partial<Record<string, string>>> = { '{': '}', '(': ')', '[': ']' }

function isEmptyPair(previous: Token, token: Token): boolean {
  return CLOSING[previous.kind] === token.kind
}

/** Returns the token at an offset and the one before it; no token if the text there is invalid. */
function tokensAt(text: string, offset: number): [previous: Token | undefined, token: Token | undefined] {
  const lexer = new Lexer(new Source(text))
  try {
    while (lexer.token.start < offset || lexer.token.kind === TokenKind.SOF) {
      if (lexer.token.kind === TokenKind.EOF) break
      lexer.advance()
    }
  } catch (raw) {
    if (raw instanceof GraphQLError) return [undefined, undefined]
    throw raw
  }
  return [lexer.lastToken, lexer.token]
}

/** Steps and bytes per token, up to the resulting value. */
const TOKEN_STEPS = 600
const TOKEN_BYTES = 600
/** Far above any real document, and safe for recursive functions over the tree. */
const MAX_DEPTH = 200

/** The grammars of gqlparser: operations, or type systems. */
type Grammar = 'query' | 'schema'

const QUERY_WORDS: ReadonlySet<string> = new Set(['query', 'mutation', 'subscription', 'fragment'])
const SCHEMA_WORDS: ReadonlySet<string> = new Set([
  ...['scalar', 'type', 'interface', 'union', 'enum', 'input'],
  ...['schema', 'directive', 'extend'],
])

/** The parser of the `graphql` package, changed where gqlparser's grammar differs. */
class DocumentParser extends Parser {
  readonly #grammar: Grammar
  readonly #meter: WorkMeter
  #depth = 0

  constructor(text: string, grammar: Grammar, meter: WorkMeter) {
    super(text, { allowLegacyFragmentVariables: true })
    this.#meter = meter
    this.#grammar = grammar
  }

  override advanceLexer(): void {
    this.#meter.spend(TOKEN_STEPS)
    this.#meter.reserve(TOKEN_BYTES)
    super.advanceLexer()
  }

  /** An empty document is valid. */
  override parseDocument(): DocumentNode {
    if (this._lexer.lookahead().kind === TokenKind.EOF) return { kind: Kind.DOCUMENT, definitions: [] }
    return super.parseDocument()
  }

  override parseDefinition(): DefinitionNode {
    const isDescribed = this.peekDescription()
    if (isDescribed && this.#grammar === 'query') throw this.unexpected()
    const keyword = isDescribed ? this._lexer.lookahead() : this._lexer.token
    const words = this.#grammar === 'query' ? QUERY_WORDS : SCHEMA_WORDS
    const isShorthand = this.#grammar === 'query' && keyword.kind === TokenKind.BRACE_L
    if (!isShorthand && !(keyword.kind === TokenKind.NAME && words.has(keyword.value))) {
      throw this.unexpected(keyword)
    }
    if (isDescribed && keyword.value === 'extend') throw this.unexpected()
    return super.parseDefinition()
  }

  override parseArguments(isConst: true): ConstArgumentNode[]
  override parseArguments(isConst: boolean): ArgumentNode[]
  override parseArguments(isConst: boolean): ArgumentNode[] {
    return this.#skipEmptyParentheses() ? [] : super.parseArguments(isConst)
  }

  override parseVariableDefinitions(): VariableDefinitionNode[] {
    return this.#skipEmptyParentheses() ? [] : super.parseVariableDefinitions()
  }

  /** gqlparser allows no interfaces here. */
  override parseInterfaceTypeExtension(): InterfaceTypeExtensionNode {
    const node = super.parseInterfaceTypeExtension()
    if (node.interfaces?.length === 0) return node
    throw this.unexpected(node.name.loc?.endToken.next)
  }

  override parseSelectionSet(): SelectionSetNode {
    return this.#nested(() => super.parseSelectionSet())
  }

  override parseValueLiteral(isConst: true): ConstValueNode
  override parseValueLiteral(isConst: boolean): ValueNode
  override parseValueLiteral(isConst: boolean): ValueNode {
    return this.#nested(() => super.parseValueLiteral(isConst))
  }

  override parseTypeReference(): TypeNode {
    return this.#nested(() => super.parseTypeReference())
  }

  /** gqlparser accepts `()` for no arguments or variables. */
  #skipEmptyParentheses(): boolean {
    if (this._lexer.token.kind !== TokenKind.PAREN_L) return false
    if (this._lexer.lookahead().kind !== TokenKind.PAREN_R) return false
    this._lexer.advance()
    this._lexer.advance()
    return true
  }

  #nested<T>(parse: () => T): T {
    if (this.#depth >= MAX_DEPTH)
      this.#meter.exceed(`a GraphQL document is nested deeper than ${MAX_DEPTH} levels`)
    this.#depth++
    const node = parse()
    this.#depth--
    return node
  }
}
