import { isRecord } from '../../../lib/validation/record.js'
import { blocksOf, localOf } from './read-plan.js'
import type { PlannedFunction, Statement } from './read-plan.js'

/** Statements that test whether a local has a value. */
const TESTS = ['IsDefinedStmt', 'IsUndefinedStmt', 'ReturnLocalStmt']
/** Operands that name the locals a statement sets. */
const SCAN_TARGETS = ['key', 'value'] as const
const TARGETS = ['target', 'result'] as const
const INPUT_AND_DATA = [0, 1]

/**
 * Returns the statements of a function that read a local before any statement sets it. In a
 * unification with a variable on both sides (`[x, y] = [y, 5]`), OPA's planner reads `y` before it
 * has a value.
 */
export function findUnassigned({ given, blocks }: PlannedFunction): Statement[] {
  let known = new Set<number>()
  const found: Statement[] = []
  const visit = (statement: Statement): void => {
    const { type, stmt } = statement
    const tested = TESTS.includes(type) ? localOf(stmt['source']) : undefined
    if (tested !== undefined) known.add(tested)
    if (tested === undefined && readsOf(statement).some((local) => !known.has(local))) found.push(statement)
    const targets: readonly string[] = type === 'ScanStmt' ? SCAN_TARGETS : TARGETS
    for (const name of targets) {
      const local = stmt[name]
      if (typeof local === 'number') known.add(local)
    }
    for (const block of blocksOf(statement)) for (const inner of block.stmts) visit(inner)
  }
  for (const { stmts } of blocks) {
    // Each definition of a rule has a block, and blocks reuse the numbers of locals.
    known = new Set([...INPUT_AND_DATA, ...given])
    for (const statement of stmts) visit(statement)
  }
  return found
}

function readsOf({ type, stmt }: Statement): number[] {
  const operands = Object.values(stmt).flatMap((value) =>
    Array.isArray(value) ? value.filter(isRecord) : [value],
  )
  const scanned = type === 'ScanStmt' ? [stmt['source']] : []
  return [...operands.filter(isRecord), ...scanned].flatMap((operand) => localOf(operand) ?? [])
}
