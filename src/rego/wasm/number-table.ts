import { AppError } from '../../errors/app-error.js'
import { compareStrings } from '../../lib/text/compare-strings.js'

/**
 * The numbers of a policy module's entrypoints, or of its built-ins, by their names, in their order, from the table as Rego text. Raises `invalid` for another
 * value than a table.
 */
export function numberTable(text: string): Map<string, number> {
  const table = parse(text)
  if (typeof table !== 'object' || table === null || Array.isArray(table))
    throw new AppError('invalid', 'not an OPA policy module: a table is missing')
  const numbers = Object.entries(table).flatMap(([name, id]) =>
    typeof id === 'number' ? [[name, id] as const] : [],
  )
  return new Map(numbers.sort(([a], [b]) => compareStrings(a, b)))
}

/** What is no JSON, as a set, is no table either. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
