import type { RuleNode, Step } from '../../values/rule-tree.js'
import { findBaseLookups } from './find-base-lookups.js'
import { findUnassigned } from './find-unassigned.js'
import { losesNegation } from './loses-negation.js'
import { losesRules } from './loses-rules.js'
import { blocksOf, localOf } from './read-plan.js'
import type { Plan, Statement } from './read-plan.js'

/** How compiled code differs from the policy: see docs/explanation/conformance.md. */
export type LossKind = 'negation' | 'lookup' | 'unification'

/** An expression that OPA compiles to code which answers differently from OPA's evaluator. */
export interface Loss {
  readonly kind: LossKind
  readonly file: string
  readonly row: number
  readonly col: number
  /** The lookup, as keys below `data`; `undefined` stands for a variable. */
  readonly path?: readonly Step[]
}

/**
 * The expressions of a plan that OPA's compiler to WebAssembly (up to OPA 1.20) compiles wrongly. The compiler makes code of this very plan, so that whatever
 * the policy looks like, its effect is seen here.
 */
export function findLosses(plan: Plan, rules: RuleNode): Loss[] {
  const losses = new Map<string, Loss>()
  const add = (kind: LossKind, at: Statement, path?: readonly Step[]): void => {
    const loss = { kind, ...placeOf(plan, at), ...(path && { path }) }
    // Of one variable without a value, others of the row have none.
    const key = `${kind} ${loss.file}:${loss.row}:${kind === 'unification' ? '' : loss.col}`
    if (!losses.has(key)) losses.set(key, loss)
  }
  for (const planned of plan.functions) {
    for (const at of findUnassigned(planned)) add('unification', at)
    for (const { statement, path } of findBaseLookups(plan, planned, rules)) add('lookup', statement, path)
    const visit = (
      stmts: readonly Statement[],
      following: readonly (readonly Statement[])[],
      isInLoop = false,
      above: ReadonlySet<number> = new Set(),
    ): void => {
      // Locals without a value, whatever the iteration before left in them.
      const reset = new Set(above)
      for (const [place, statement] of stmts.entries()) {
        if (
          statement.type === 'NotStmt' &&
          losesNegation(statement, (local) => isInLoop && !reset.has(local))
        )
          add('negation', statement)
        if (statement.type === 'CallDynamicStmt') {
          const path = losesRules(plan, rules, statement, following)
          if (path !== undefined) add('lookup', statement, path)
        }
        const cleared = statement.type === 'ResetLocalStmt' ? localOf(statement.stmt['target']) : undefined
        if (cleared !== undefined) reset.add(cleared)
        const isLoop = statement.type === 'ScanStmt'
        const rest = [stmts.slice(place + 1), ...following.slice(0, 1)]
        for (const block of blocksOf(statement))
          visit(block.stmts, rest, isInLoop || isLoop, isLoop ? new Set() : reset)
      }
    }
    for (const { stmts } of planned.blocks) visit(stmts, [])
  }
  return [...losses.values()]
}

function placeOf({ files }: Plan, { stmt }: Statement): Pick<Loss, 'file' | 'row' | 'col'> {
  const [file, row, col] = [stmt['file'], stmt['row'], stmt['col']].map((value) => Number(value ?? 0))
  return { file: files[file ?? 0] ?? '', row: row ?? 0, col: col ?? 0 }
}
