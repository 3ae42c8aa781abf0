import type { RegoValue } from '../../rego/value.js'

/** A value that a checked schema or a JSON object has as a string anyway: a key, a type, a required name. */
export function textOf(value: RegoValue | undefined): string {
  return typeof value === 'string' ? value : ''
}
