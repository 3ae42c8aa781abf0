import { isRecord, stringOf } from './read-plan.js'
import type { Plan, Statement } from './read-plan.js'

/** `input` and `data`, the parameters of every rule. */
const RULE_PARAMETERS = 2

/**
 * Returns a test for calls of functions that lack arguments, which lookups by a variable compile
 * to.
 */
export function makeFunctionCheck({ functions, strings }: Plan): (statement: Statement) => boolean {
  const withArguments = functions.filter(({ parameters }) => parameters > RULE_PARAMETERS)
  const parameters = new Map(withArguments.map((planned) => [planned.name, planned.parameters]))
  return ({ type, stmt }) => {
    if (type === 'CallStmt') {
      const expected = parameters.get(String(stmt['func']))
      return expected !== undefined && listOf(stmt['args']).length < expected
    }
    if (type !== 'CallDynamicStmt') return false
    const steps = listOf(stmt['path']).map((operand) => stringOf(operand, strings))
    return withArguments.some(
      ({ path }) =>
        path.length === steps.length &&
        steps.every((step, index) => step === undefined || step === path[index]),
    )
  }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value.filter((item) => isRecord(item) || typeof item === 'number') : []
}
