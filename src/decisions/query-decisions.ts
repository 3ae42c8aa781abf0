import { setTimeout } from 'node:timers/promises'
import { AppError } from '../errors/app-error.js'
import type {
  DecisionCountFilter,
  DecisionFilter,
  DecisionHead,
  DecisionPosition,
  DecisionReadStore,
  StoredDecision,
} from '../store/ports/decision-store.js'
import type { DecisionLog } from './decision-log.js'
import { hasRule, nameRules } from './name-rules.js'
import type { RulesOf } from './name-rules.js'
import { toDecisionView } from './decision-view.js'
import type { DecisionView } from './decision-view.js'

/**
 * Query for a page. `limit` is 1 to 500, 50 if absent. `cursor` is the `nextCursor` of the previous
 * page.
 */
export interface DecisionQuery extends DecisionFilter {
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
  /** Whether to include inputs and results of built-ins. */
  readonly inputs?: 'true' | 'false' | undefined
  /** Name or location (`file:line`) of a rule that may have denied. */
  readonly rule?: string | undefined
}

export interface DecisionPage {
  /** Newest first. Fewer than `limit`, with a `nextCursor`, if inputs and results are large. */
  readonly decisions: readonly DecisionView[]
  readonly nextCursor?: string
}

export interface DecisionQueryDeps {
  readonly store: DecisionReadStore
  /** Flushed before a read, so that a decision is visible right after its response. */
  readonly log: Pick<DecisionLog, 'flush'>
  /** Names the rules of reasons when decisions are read; absent if their sources are not stored. */
  readonly rulesOf?: RulesOf | undefined
}

const MAX_FLUSH_WAIT_MS = 1000
const MAX_LIMIT = 500
const DEFAULT_LIMIT = 50
/** Decisions read to find those of a rule. A page may have fewer, and a cursor to go on. */
const MAX_READ = 5000
const MAX_PAGE_BYTES = 1024 * 1024
const WITHOUT_INPUT = { input: null, ndBuiltinCache: null }

/**
 * Returns the matching decisions. Raises AppError `invalid` for a bad limit or cursor. Later
 * decisions never shift a page.
 */
export async function queryDecisions(
  { store, log, rulesOf }: DecisionQueryDeps,
  query: DecisionQuery,
): Promise<DecisionPage> {
  const { limit = DEFAULT_LIMIT, cursor, inputs, rule, ...filter } = query
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT) {
    throw new AppError('invalid', `limit: must be a whole number from 1 to ${MAX_LIMIT}`)
  }
  let after = cursor === undefined ? undefined : decodeCursor(cursor)
  await flushed(log)
  const found: StoredDecision[] = []
  let [read, isFull] = [0, false]
  let next: DecisionPosition | undefined
  do {
    const rows = rule === undefined ? limit : MAX_LIMIT
    const bounds = { rows, bytes: MAX_PAGE_BYTES, withInputs: inputs === 'true' }
    const page = await store.page(filter, bounds, after)
    read += page.decisions.length
    next = page.next
    for (const decision of page.decisions) {
      const named = await nameRules(decision, rulesOf)
      if (rule !== undefined && !hasRule(named, rule)) continue
      found.push(named)
      isFull = found.length === limit
      if (!isFull) continue
      if (decision !== page.decisions.at(-1)) next = decision
      break
    }
    after = next
  } while (rule !== undefined && !isFull && next !== undefined && read < MAX_READ)
  const views = found.map((decision) =>
    toDecisionView(inputs === 'true' ? decision : { ...decision, ...WITHOUT_INPUT }),
  )
  return next === undefined ? { decisions: views } : { decisions: views, nextCursor: encodeCursor(next) }
}

/** The newest decisions about a package. */
interface DecisionsAbout {
  readonly decisions: readonly DecisionView[]
  readonly hasMore: boolean
}

/**
 * Returns the newest decisions at a path, below it, and about a package, in this order. Raises as
 * `queryDecisions`.
 */
export async function queryDecisionsAbout(
  deps: DecisionQueryDeps,
  { path, packageName }: { readonly path: string; readonly packageName: string },
  { limit, inputs }: { readonly limit: number; readonly inputs?: 'true' },
): Promise<DecisionsAbout> {
  const filters = [{ path }, { path: `${path}/` }, { package: packageName }]
  const pages = await Promise.all(
    filters.map((filter) => queryDecisions(deps, { ...filter, limit, ...(inputs && { inputs }) })),
  )
  const all = new Map(pages.flatMap((page) => page.decisions.map((each) => [each.decisionId, each])))
  const newest = [...all.values()].sort((one, other) => (one.time < other.time ? 1 : -1))
  return {
    decisions: newest.slice(0, limit),
    hasMore: newest.length > limit || pages.some(({ nextCursor }) => nextCursor !== undefined),
  }
}

/** Returns the number of decisions with an outcome since a time, at most `max`. */
export async function countDecisions(
  { store, log }: DecisionQueryDeps,
  filter: DecisionCountFilter,
  max: number,
): Promise<number> {
  await flushed(log)
  return await store.count(filter, max)
}

/** Returns the decision with an id as in the API. Raises AppError `not_found`. */
export async function findDecision(deps: DecisionQueryDeps, decisionId: string): Promise<DecisionView> {
  return toDecisionView(await nameRules(await findStoredDecision(deps, decisionId), deps.rulesOf))
}

/** Returns the decision with an id. Raises AppError `not_found`. */
export async function findStoredDecision(
  { store, log }: DecisionQueryDeps,
  decisionId: string,
): Promise<StoredDecision> {
  await flushed(log)
  const decision = await store.get(decisionId)
  if (decision === undefined) {
    throw new AppError(
      'not_found',
      `decision ${decisionId}: not in the log (never recorded, dropped or expired)`,
    )
  }
  return decision
}

/** Returns the first decisions about an execution, oldest first. */
export async function decisionsOfExecution(
  { store, log }: DecisionQueryDeps,
  executionId: string,
  limit: number,
): Promise<readonly DecisionHead[]> {
  await flushed(log)
  return await store.ofExecution(executionId, limit)
}

/** Waits briefly: a slow writer must not block reads of written decisions. */
async function flushed(log: Pick<DecisionLog, 'flush'>): Promise<void> {
  await Promise.race([log.flush(), setTimeout(MAX_FLUSH_WAIT_MS, undefined, { ref: false })])
}

function encodeCursor({ timeMs, seq }: DecisionPosition): string {
  return Buffer.from(`${timeMs}.${seq}`).toString('base64url')
}

function decodeCursor(cursor: string): DecisionPosition {
  const match = /^(-?\d{1,16})\.(\d{1,16})$/.exec(Buffer.from(cursor, 'base64url').toString('latin1'))
  if (match === null) throw new AppError('invalid', 'cursor: must be the nextCursor of an earlier page')
  return { timeMs: Number(match[1]), seq: Number(match[2]) }
}
