import { Kind, TokenKind } from 'graphql'
import type { ArgumentNode, ConstArgumentNode, DefinitionNode, DocumentNode, SelectionSetNode } from 'graphql'
import type {
  ConstValueNode,
  InterfaceTypeExtensionNode,
  TypeNode,
  ValueNode,
  VariableDefinitionNode,
} from 'graphql'
// The class is the package's own way to vary its grammar, and only this file of it exports it.
import { Parser } from 'graphql/language/parser.js'

import type { WorkMeter } from '../../metering/work-meter.js'

/** Steps and bytes of a token on its way to the value that is made of it. */
const TOKEN_STEPS = 600
const TOKEN_BYTES = 600
/** Far above any written document, and safe for the functions that walk the tree by recursion. */
const MAX_DEPTH = 200

/** Which definitions a document may hold: gqlparser reads operations and type systems with two grammars. */
export type Grammar = 'query' | 'schema'

const QUERY_WORDS: ReadonlySet<string> = new Set(['query', 'mutation', 'subscription', 'fragment'])
const SCHEMA_WORDS: ReadonlySet<string> = new Set([
  ...['scalar', 'type', 'interface', 'union', 'enum', 'input'],
  ...['schema', 'directive', 'extend'],
])

/** The parser of the `graphql` package with the grammar of gqlparser, which OPA uses, where the two differ. */
export class DocumentParser extends Parser {
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

  /** A document without any definition is a document too. */
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

  /** gqlparser has no interfaces here. */
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

  /** gqlparser takes `()` for no arguments, or no variables. */
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
