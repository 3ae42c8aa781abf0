import type { RegoValue } from '../values/value.js'
import type { EvaluationBudget } from './evaluation-budget.js'
import type { HostValues } from './host-values.js'
import type { OperandReader } from './native-choice.js'

/** Reads the operands at these addresses, each only where it is asked for. */
export function readerOf(
  operands: readonly number[],
  values: HostValues,
  budget: EvaluationBudget,
  read: (address: number) => RegoValue,
): OperandReader {
  const address = (index: number): number => operands[index] ?? 0
  return {
    value: (index) => read(address(index)),
    hasIntegersOnly: (index) => values.hasIntegersOnly(address(index)),
    isShortInteger: (index) => values.isShortInteger(address(index)),
    isIntegerText: (index) => values.isIntegerText(address(index)),
    shortInteger: (index) => values.shortInteger(address(index)),
    bytes: (index) => values.textBytes(address(index), budget),
  }
}
