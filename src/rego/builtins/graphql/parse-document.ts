import type { WorkMeter } from '../../metering/work-meter.js'
import { TokenKind } from 'graphql'
import type { DocumentNode, Token } from 'graphql'
// From the files beside the parser's: the package is there twice, and a loader that takes the other copy for its name
// would have another GraphQLError than the parser raises.
import { GraphQLError } from 'graphql/error/GraphQLError.js'
import { Lexer } from 'graphql/language/lexer.js'
import { Source } from 'graphql/language/source.js'

import { BuiltinError } from '../shared/builtin.js'
import { DocumentParser } from './document-parser.js'
import type { Grammar } from './document-parser.js'
import { tokenPosition } from './schema/source-position.js'

/**
 * The syntax tree of a GraphQL document of operations and fragments, or of a schema. Raises BuiltinError with the text
 * and the place that OPA gives for a syntax error.
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
  const [place] = error.locations ?? []
  const { line, column } =
    token === undefined ? { line: place?.line, column: place?.column } : tokenPosition(token)
  return `${problem(error, previous, token)} in GraphQL string at location ${line}:${column}`
}

/** gqlparser writes punctuation without quotes and knows one text for whatever is no token. */
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

/** The token that starts at an offset and the one before it; no token where the text there is not one. */
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
