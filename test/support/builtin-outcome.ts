import { BuiltinError } from '../../src/rego/builtins/shared/builtin.js'
import type { BuiltinContext, BuiltinTable } from '../../src/rego/builtins/shared/builtin.js'
import { parseRegoText } from '../../src/rego/values/parse-text.js'
import { EvaluationAbort } from '../../src/rego/wasm/module/evaluation-abort.js'
import { printRegoText } from '../../src/rego/values/print-text.js'
import type { RegoArray } from '../../src/rego/values/value.js'
import { generousMeter } from './generous-meter.js'

/** A call with its operands and its outcome as texts, as returned by `outcomeOf`. */
export type OutcomeCase = readonly [builtin: string, args: string, outcome: string]

/**
 * The outcome of a built-in call as a text to compare: the value as compact Rego, `undefined`,
 * `code: message`, or `over budget: reason`. `args` is the Rego text of the array of operands.
 */
export function outcomeOf(table: BuiltinTable, builtin: string, args: string, nowNs = 0n): string {
  const call = table[builtin]
  if (call === undefined) throw new Error(`no such built-in: ${builtin}`)
  const context: BuiltinContext = { nowNs, memo: new Map(), meter: generousMeter() }
  try {
    const value = call(parseRegoText(args) as RegoArray, context)
    return value === undefined ? 'undefined' : printRegoText(value)
  } catch (raw) {
    if (raw instanceof BuiltinError) return `${raw.code}: ${raw.message}`
    if (raw instanceof EvaluationAbort && raw.isOverBudget) return `over budget: ${raw.message}`
    throw raw
  }
}
