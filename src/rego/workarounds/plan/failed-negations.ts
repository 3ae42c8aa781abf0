import { blocksOf, localOf } from './read-plan.js'
import type { Block, Statement } from './read-plan.js'

/**
 * The effect of a block that runs to its end: it sets a local, adds to a collection, jumps, or
 * none.
 */
type Effect =
  { readonly kind: 'adds' | 'sets'; readonly local: number } | { readonly kind: 'jumps' | 'nothing' }

const NOTHING: Effect = { kind: 'nothing' }
const COLLECTIONS: Readonly<Record<string, string>> = {
  ArrayAppendStmt: 'array',
  SetAddStmt: 'set',
  ObjectInsertStmt: 'object',
  ObjectInsertOnceStmt: 'object',
}
/** Statements that never end a block. */
const NEVER_FAIL = [
  ...['ArrayAppendStmt', 'SetAddStmt', 'ObjectInsertStmt', 'ObjectInsertOnceStmt'],
  ...['AssignVarStmt', 'AssignIntStmt', 'ResetLocalStmt', 'LenStmt', 'NopStmt', 'ScanStmt'],
  ...[
    'MakeArrayStmt',
    'MakeObjectStmt',
    'MakeSetStmt',
    'MakeNullStmt',
    'MakeNumberIntStmt',
    'MakeNumberRefStmt',
  ],
]

/**
 * True if a compiled negation may have another result than in OPA's evaluator. A negation holds if
 * its block ends early. A failed condition in an inner block ends only that inner block; the outer
 * one runs to its end, as if the condition held. So the effect of each inner block has to be tested
 * later. In a loop, `isStale` is true for a local that may have its value of the previous
 * iteration.
 */
export function losesNegation(negation: Statement, isStale: (local: number) => boolean): boolean {
  return blocksOf(negation).some((body) => losesBody(body, testedLocals(body), isStale))
}

function losesBody(
  { stmts }: Block,
  tested: ReadonlySet<number>,
  isStale: (local: number) => boolean,
): boolean {
  const reset = new Set<number>()
  return stmts.some((statement, index) => {
    // A failure within `with` also ends the block around it.
    if (statement.type === 'WithStmt')
      return blocksOf(statement).some((block) => losesBody(block, tested, isStale))
    const cleared = statement.type === 'ResetLocalStmt' ? localOf(statement.stmt['target']) : undefined
    if (cleared !== undefined) reset.add(cleared)
    if (!isInner(statement)) return false
    if (losesInner(statement, tested)) return true
    const sets = blocksOf(statement)
      .flatMap(effectsOf)
      .flatMap((effect) => (effect.kind === 'sets' && tested.has(effect.local) ? effect.local : []))
    return sets.some(
      (local) => isCutOff(local, stmts.slice(index + 1)) || (!reset.has(local) && isStale(local)),
    )
  })
}

/** True if an inner block, at any depth, has no effect that is tested later. */
function losesInner(statement: Statement, tested: ReadonlySet<number>): boolean {
  if (isInner(statement)) {
    const made = madeIn(statement)
    const isLost = (effect: Effect): boolean =>
      effect.kind === 'nothing' ||
      (effect.kind === 'adds' && made.has(effect.local)) ||
      (effect.kind === 'sets' && !tested.has(effect.local))
    if (blocksOf(statement).some((block) => mayFail(block) && effectsOf(block).some(isLost))) return true
  }
  // `findLosses` checks nested negations themselves.
  if (statement.type === 'NotStmt') return false
  return blocksOf(statement).some(({ stmts }) => stmts.some((inner) => losesInner(inner, tested)))
}

/** True if a statement before the test of a local may end the block. */
function isCutOff(local: number, rest: readonly Statement[]): boolean {
  for (const statement of rest) {
    if (isTest(statement) && localOf(statement.stmt['source']) === local) return false
    if (!NEVER_FAIL.includes(statement.type) || leaves(statement, 0)) return true
  }
  return true
}

/** True if a jump in the statement leaves the block around it. */
function leaves(statement: Statement, depth: number): boolean {
  if (statement.type === 'BreakStmt') return Number(statement.stmt['index'] ?? 0) >= depth
  return blocksOf(statement).some(({ stmts }) => stmts.some((inner) => leaves(inner, depth + 1)))
}

function isInner({ type }: Statement): boolean {
  return type === 'BlockStmt' || type === 'ScanStmt'
}

function isTest({ type }: Statement): boolean {
  return type === 'IsDefinedStmt' || type === 'IsUndefinedStmt'
}

/** True if a direct statement of the block may end it early. */
function mayFail({ stmts }: Block): boolean {
  return stmts.some((statement) => !isInner(statement) && !NEVER_FAIL.includes(statement.type))
}

function effectsOf({ stmts }: Block): Effect[] {
  const last = stmts.at(-1)
  if (last === undefined) return [NOTHING]
  if (isInner(last) || last.type === 'WithStmt') return blocksOf(last).flatMap(effectsOf)
  return [effectOf(last)]
}

function effectOf({ type, stmt }: Statement): Effect {
  if (type === 'BreakStmt') return Number(stmt['index'] ?? 0) > 0 ? { kind: 'jumps' } : NOTHING
  const collection = localOf(stmt[COLLECTIONS[type] ?? ''])
  if (collection !== undefined) return { kind: 'adds', local: collection }
  const target = type === 'AssignVarStmt' ? localOf(stmt['target']) : undefined
  return target === undefined ? NOTHING : { kind: 'sets', local: target }
}

/** Returns the collections created in a statement. */
function madeIn(statement: Statement): Set<number> {
  const made = new Set<number>()
  const visit = ({ type, stmt }: Statement): void => {
    const target = type.startsWith('Make') ? localOf(stmt['target']) : undefined
    if (target !== undefined) made.add(target)
  }
  forEachWithin(statement, visit)
  return made
}

/** Returns the locals that a block tests for a value, at any depth. */
function testedLocals({ stmts }: Block): Set<number> {
  const tested = new Set<number>()
  const visit = (statement: Statement): void => {
    const local = isTest(statement) ? localOf(statement.stmt['source']) : undefined
    if (local !== undefined) tested.add(local)
  }
  for (const statement of stmts) {
    visit(statement)
    forEachWithin(statement, visit)
  }
  return tested
}

function forEachWithin(statement: Statement, visit: (inner: Statement) => void): void {
  for (const { stmts } of blocksOf(statement))
    for (const inner of stmts) {
      visit(inner)
      forEachWithin(inner, visit)
    }
}
