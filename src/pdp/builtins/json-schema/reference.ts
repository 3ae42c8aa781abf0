import { RegoObject } from '../../rego/value.js'
import type { RegoValue } from '../../rego/value.js'
import { BuiltinError } from '../shared/builtin.js'
import { isArray } from '../shared/operands.js'

/**
 * What a `$ref` into the same schema stands for (`#`, `#/definitions/a`). Raises BuiltinError when nothing is there, and
 * for other documents: a decision fetches no schemas.
 */
export function resolveReference(root: RegoObject, reference: string): RegoValue {
  if (!reference.startsWith('#')) {
    throw new BuiltinError(`reference to another document is not allowed: ${reference}`)
  }
  let value: RegoValue = root
  for (const step of reference.slice(1).split('/').slice(1)) {
    value = stepInto(value, decodeStep(step))
  }
  return value
}

function stepInto(value: RegoValue, key: string): RegoValue {
  if (isArray(value))
    return value[Number(key)] ?? fail(`Out of bound array[0,${value.length}] index '${key}'`)
  if (!(value instanceof RegoObject)) return fail(`Invalid token reference '${key}'`)
  return value.get(key) ?? fail(`Object has no key '${key}'`)
}

function decodeStep(step: string): string {
  try {
    return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return fail(`invalid reference: ${step}`)
  }
}

function fail(problem: string): never {
  throw new BuiltinError(problem)
}
