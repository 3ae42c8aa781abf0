import type { ErrorDetail } from '../../../errors/app-error.js'
import type { Step } from '../../values/rule-tree.js'
import type { Loss, LossKind } from './find-losses.js'

/** The code of the error for an expression that WebAssembly code would answer differently from OPA's evaluator. */
export const LOST_IN_COMPILING = 'lost_in_compiling'

const ADVICE: Readonly<Record<LossKind, (loss: Loss) => string>> = {
  negation: () =>
    'OPA does not compile this negation to WebAssembly correctly, since what follows `not` looks rules up by a variable or iterates: give what follows `not` a rule of its own, and write `not` before the name of that rule',
  lookup: ({ path = [] }) =>
    `OPA does not compile this lookup (${printPath(path)}) to WebAssembly correctly, since some packages have one rule there and others several: give all of them rules of one kind, or assign all of what the rules are in to a variable first, and look the key up in that variable`,
  unification: () =>
    'OPA does not compile this unification to WebAssembly correctly, since a variable that has no value yet is on both sides: write one equation for each variable (`y = 5; x = y` for `[x, y] = [y, 5]`)',
}

/** What to report of each of these, by the file that `toSource` names; each place once. */
export function lossDetails(losses: readonly Loss[], toSource: (file: string) => string): ErrorDetail[] {
  return losses.map((loss) => ({
    code: LOST_IN_COMPILING,
    message: ADVICE[loss.kind](loss),
    location: { file: toSource(loss.file), row: loss.row, col: loss.col },
  }))
}

function printPath(path: readonly Step[]): string {
  return ['data', ...path.map((step) => (step === undefined ? '[…]' : `[${JSON.stringify(step)}]`))].join('')
}
