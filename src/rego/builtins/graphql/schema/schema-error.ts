import type { ASTNode } from 'graphql'

import { BuiltinError } from '../../shared/builtin.js'
import { nodePosition } from './source-position.js'

/** Raises BuiltinError as OPA does for a schema that contradicts itself, with the place of the node at fault. */
export function schemaError(node: ASTNode, problem: string): never {
  const position = nodePosition(node)
  const place = position === undefined ? 'input' : `input:${position.line}:${position.column}`
  throw new BuiltinError(`Error in gqlparser SchemaDocument to Schema conversion: ${place}: ${problem}`)
}
