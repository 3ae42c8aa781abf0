import type { ErrorDetail } from '../../../errors/app-error.js'
import type { RuleNode, Step } from '../../values/rule-tree.js'
import { losesNegation } from './failed-negations.js'
import { isRecord } from '../../../lib/validation/record.js'
import { blocksOf, localOf, stringOf } from './read-plan.js'
import type { Plan, Statement } from './read-plan.js'
import { findBaseLookups, skippedByCall } from './skipped-rules.js'
import { findUnassigned } from './unassigned-variables.js'

/** `input` and `data`, the parameters of every rule. */
const RULE_PARAMETERS = 2

/** How compiled code differs from the policy; see docs/explanation/conformance.md. */
type LossKind = 'negation' | 'lookup' | 'function' | 'unification'

/** An expression that OPA compiles to code with another result than OPA's evaluator. */
export interface Loss {
  readonly kind: LossKind
  readonly file: string
  readonly row: number
  readonly col: number
  /** The keys of a lookup below `data`; `undefined` stands for a variable. */
  readonly path?: readonly Step[]
}

/**
 * Returns the expressions of a plan that OPA's compiler to WebAssembly compiles wrongly (0.70, and
 * 1.x up to 1.20.2). The compiler translates exactly this plan, so the check does not depend on how
 * the policy is written.
 */
export function findLosses(plan: Plan, rules: RuleNode): Loss[] {
  const losses = new Map<string, Loss>()
  const add = (kind: LossKind, at: Statement, path?: readonly Step[]): void => {
    const loss = { kind, ...locationOf(plan, at), ...(path && { path }) }
    // If one variable of a unification is unassigned, others of the line are, too.
    const key = `${kind} ${loss.file}:${loss.row}:${kind === 'unification' ? '' : loss.col}`
    if (!losses.has(key)) losses.set(key, loss)
  }
  const lacksArguments = makeFunctionCheck(plan)
  for (const planned of plan.functions) {
    for (const at of findUnassigned(planned)) add('unification', at)
    for (const { statement, path } of findBaseLookups(plan, planned, rules)) add('lookup', statement, path)
    const visit = (
      stmts: readonly Statement[],
      following: readonly (readonly Statement[])[],
      isInLoop = false,
      above: ReadonlySet<number> = new Set(),
    ): void => {
      // Locals that are reset in each iteration of the loop around them.
      const reset = new Set(above)
      for (const [index, statement] of stmts.entries()) {
        const isStale = (local: number): boolean => isInLoop && !reset.has(local)
        if (statement.type === 'NotStmt' && losesNegation(statement, isStale)) add('negation', statement)
        if (lacksArguments(statement)) add('function', statement)
        else if (statement.type === 'CallDynamicStmt') {
          const path = skippedByCall(plan, rules, statement, following)
          if (path !== undefined) add('lookup', statement, path)
        }
        const cleared = statement.type === 'ResetLocalStmt' ? localOf(statement.stmt['target']) : undefined
        if (cleared !== undefined) reset.add(cleared)
        const isLoop = statement.type === 'ScanStmt'
        const rest = [stmts.slice(index + 1), ...following.slice(0, 1)]
        for (const block of blocksOf(statement))
          visit(block.stmts, rest, isInLoop || isLoop, isLoop ? new Set() : reset)
      }
    }
    for (const { stmts } of planned.blocks) visit(stmts, [])
  }
  return [...losses.values()]
}

function locationOf({ files }: Plan, { stmt }: Statement): Pick<Loss, 'file' | 'row' | 'col'> {
  const [file, row, col] = [stmt['file'], stmt['row'], stmt['col']].map((value) => Number(value ?? 0))
  return { file: files[file ?? 0] ?? '', row: row ?? 0, col: col ?? 0 }
}

/** Error code for an expression whose WebAssembly code differs from OPA's evaluator. */
const LOST_IN_COMPILING = 'lost_in_compiling'

const ADVICE: Readonly<Record<LossKind, (loss: Loss) => string>> = {
  negation: () =>
    'OPA does not compile this negation to WebAssembly correctly, because the negated expression looks rules up by a variable or iterates. Move that expression to a rule of its own, and write `not` before the name of that rule',
  lookup: ({ path = [] }) =>
    `OPA does not compile this lookup (${printPath(path)}) to WebAssembly correctly, because some packages have one rule there and others several. Give all of them the same kind of rule, or assign the object above the rules to a variable and look the key up in that variable`,
  function: () =>
    'OPA compiles this lookup to code that is not valid, because the key may be the name of a function. Move the functions to a package that is not looked up by a variable, or assign the package to a variable and look the key up in that variable',
  unification: () =>
    'OPA does not compile this unification to WebAssembly correctly, because a variable without a value is on both sides. Write one equation for each variable (`y = 5; x = y` for `[x, y] = [y, 5]`)',
}

/**
 * Returns an error detail for each loss. `toSource` maps file names of the plan to source files.
 */
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

/**
 * Returns a test for calls of functions that lack arguments, which lookups by a variable compile
 * to.
 */
function makeFunctionCheck({ functions, strings }: Plan): (statement: Statement) => boolean {
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
