import { AppError } from '../../errors/app-error.js'
import { RegoNumber, RegoObject } from '../rego/value.js'
import type { RegoValue } from '../rego/value.js'

/** The numbers of a policy module's entrypoints, or of its built-ins, by their names. Raises `invalid` for another value than a table. */
export function numberTable(table: RegoValue): Map<string, number> {
  if (!(table instanceof RegoObject))
    throw new AppError('invalid', 'not an OPA policy module: a table is missing')
  const numbers = new Map<string, number>()
  for (const [name, id] of table.entries) {
    if (typeof name === 'string' && id instanceof RegoNumber) numbers.set(name, id.toNumber())
  }
  return numbers
}
