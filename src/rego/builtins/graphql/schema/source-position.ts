import { Kind, TokenKind } from 'graphql'
import type { ASTNode, Token } from 'graphql'

import { BuiltinError } from '../../shared/builtin.js'

/** A line and a column of a document, both from 1. */
export interface SourcePosition {
  readonly line: number
  readonly column: number
}

/** Length of the opening quotes of a string, which gqlparser does not count. */
const QUOTES: Readonly<Partial<Record<string, number>>> = {
  [TokenKind.STRING]: 1,
  [TokenKind.BLOCK_STRING]: 3,
}

/** Returns gqlparser's position of a token. */
export function tokenPosition(token: Token): SourcePosition {
  return { line: token.line, column: token.column + (QUOTES[token.kind] ?? 0) }
}

/** Returns gqlparser's position of a node; undefined for a node that was read from an object. */
export function nodePosition(node: ASTNode): SourcePosition | undefined {
  const token = markingToken(node)
  return token === undefined || token === null ? undefined : tokenPosition(token)
}

/** gqlparser records the first token after the one that identifies the node. */
function markingToken(node: ASTNode): Token | null | undefined {
  switch (node.kind) {
    case Kind.DIRECTIVE:
    case Kind.FRAGMENT_SPREAD:
    case Kind.INLINE_FRAGMENT:
      return node.loc?.startToken.next
    case Kind.LIST_TYPE:
      return node.loc?.startToken.next
    case Kind.NON_NULL_TYPE:
      return markingToken(node.type)
    case Kind.NAME:
      return node.loc && startOfNamed(node.loc.startToken)
    case Kind.SCHEMA_DEFINITION:
      return (node.description?.loc?.endToken.next ?? node.loc?.startToken)?.next
    case Kind.SCALAR_TYPE_DEFINITION:
    case Kind.OBJECT_TYPE_DEFINITION:
    case Kind.INTERFACE_TYPE_DEFINITION:
    case Kind.UNION_TYPE_DEFINITION:
    case Kind.ENUM_TYPE_DEFINITION:
    case Kind.INPUT_OBJECT_TYPE_DEFINITION:
    case Kind.SCALAR_TYPE_EXTENSION:
    case Kind.OBJECT_TYPE_EXTENSION:
    case Kind.INTERFACE_TYPE_EXTENSION:
    case Kind.UNION_TYPE_EXTENSION:
    case Kind.ENUM_TYPE_EXTENSION:
    case Kind.INPUT_OBJECT_TYPE_EXTENSION:
    case Kind.DIRECTIVE_DEFINITION:
      return node.name.loc?.startToken
    default:
      return node.loc?.startToken
  }
}

const INTRODUCTIONS: ReadonlySet<string> = new Set(['query', 'mutation', 'subscription', 'fragment'])

/** A named node starts at the keyword or symbol before its name; an argument starts at its name. */
function startOfNamed(name: Token): Token {
  const { prev } = name
  if (prev?.kind === TokenKind.DOLLAR) return prev
  return prev?.kind === TokenKind.NAME && INTRODUCTIONS.has(prev.value) ? prev : name
}

/** Throws BuiltinError for an inconsistent schema at the node's position. */
export function schemaError(node: ASTNode, problem: string): never {
  const position = nodePosition(node)
  const location = position === undefined ? 'input' : `input:${position.line}:${position.column}`
  throw new BuiltinError(`Error in gqlparser SchemaDocument to Schema conversion: ${location}: ${problem}`)
}
