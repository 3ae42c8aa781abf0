import type { RegoValue } from '../../values/value.js'
import type { BuiltinContext } from './builtin.js'
import { callKey } from './recorded-calls.js'
import type { CallResult } from './recorded-calls.js'

/** Returns the recorded result of this call in the decision, or computes it. */
export function memoise(
  name: string,
  args: readonly RegoValue[],
  context: BuiltinContext,
  make: () => RegoValue,
): RegoValue {
  const key = callKey(name, args)
  const known = context.memo.get(key)
  if (known !== undefined && 'value' in known.result) return known.result.value
  context.meter.reserve(key.length * 2 + 200)
  const value = make()
  context.memo.set(key, { name, args, result: { value } })
  return value
}

/**
 * Returns the result of a call that is answered outside of the evaluation. `identifying` are the
 * arguments that identify the call. If the result is not known yet, the evaluation ends and is
 * repeated with it.
 */
export function externalResult(
  name: string,
  args: readonly RegoValue[],
  context: BuiltinContext,
  identifying = args,
): CallResult {
  const key = callKey(name, identifying)
  const known = context.memo.get(key)
  if (known !== undefined) return known.result
  if (context.suspend === undefined) return context.meter.exceed(`${name} cannot be called here`)
  return context.suspend({ key, name, args })
}
