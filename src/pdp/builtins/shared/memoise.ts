import { printRegoText } from '../../rego/print-text.js'
import type { RegoValue } from '../../rego/value.js'
import type { BuiltinContext } from './builtin.js'

/** The result that this call had before in the same decision; made on the first call. */
export function memoise(
  name: string,
  args: readonly RegoValue[],
  context: BuiltinContext,
  make: () => RegoValue,
): RegoValue {
  const key = `${name}${printRegoText(args)}`
  const known = context.memo.get(key)
  if (known !== undefined) return known
  context.meter.reserve(key.length * 2 + 200)
  const made = make()
  context.memo.set(key, made)
  return made
}
