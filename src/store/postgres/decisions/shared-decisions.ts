import type { SharedDecisions } from '../../ports/decision-shipping.js'
import type {
  DecisionFilter,
  DecisionPosition,
  DecisionReadStore,
  PageBounds,
  StoredDecision,
  StoredDecisionPage,
} from '../../ports/decision-store.js'
import { toDecisionHead, toPosition, toStoredDecision } from '../../tables/decision-table.js'
import type { DecisionTable } from '../../tables/decision-table.js'
import { Conditions } from '../engine/conditions.js'
import { PooledQueries } from '../engine/pooled-queries.js'
import { naming } from '../engine/postgres-error.js'
import type { PostgresSettings } from '../engine/postgres-settings.js'
import type { Queries } from '../engine/session.js'
import { ShutdownProbe } from '../engine/shutdown-probe.js'
import { all, first } from '../engine/statements.js'
import { removeDecisionMonths } from './decision-months.js'
import { RARE_OUTCOMES } from './decision-months.js'

/** Timeouts for searches without an index. */
const READING = { statementMs: 30_000, lockMs: 3000 }
const CONNECTIONS = 2

/** Opens the shared decision log. Connections are made on demand. */
export function openSharedDecisions(
  settings: PostgresSettings,
  shutdown = new ShutdownProbe(settings),
): SharedDecisions {
  const queries = new PooledQueries(settings, READING, CONNECTIONS, shutdown)
  return {
    store: { ...makeDecisionReader(queries), close: () => queries.close() },
    settings,
    abandoned: shutdown.abandoned,
    removeMonthsBefore: (timeMs) =>
      naming('remove old decisions', () => removeDecisionMonths(settings, timeMs)),
  }
}

/** A decision with its replica. `FoundRow` adds the number of rows found up to the page's limit. */
type SharedRow = DecisionTable & { readonly replica: string } & Record<string, unknown>
interface Counted extends Record<string, unknown> {
  readonly count: number
}
type FoundRow = SharedRow & { readonly found: number }

const COLUMNS =
  'seq, decision_id, time_ms, replica, kind, path, revision, outcome, application, execution_id, caller, duration_ns, request_id, error, input_bytes, input_truncated, result_truncated, result, input, nd_builtin_cache, packages, trace_id'

/** Reads the shared decision log. */
function makeDecisionReader(queries: Queries): Omit<DecisionReadStore, 'close'> {
  return {
    page: (filter, bounds, after) => naming(READ, () => readPage(queries, filter, bounds, after)),
    count: ({ outcome, fromMs }, max) =>
      naming(READ, async () => {
        const text = `select count(*)::int4 as count from (select 1 from decisions
          where outcome = $1 and ${RARE_OUTCOMES} and time_ms >= $2 limit $3) as found`
        const row = await first<Counted>(queries, text, [outcome, Math.ceil(fromMs), max])
        return row?.count ?? 0
      }),
    denials: ({ package: name, fromMs, periodMs }, max) =>
      naming(READ, async () => {
        const text = `select floor((time_ms - $2::int8) / $3::float8)::int4 as period, count(*)::int4 as count from (
          select time_ms from decision_packages where package = $1 and time_ms >= $2::int8
          order by time_ms desc limit $4) as newest group by 1`
        return await all<Counted & { readonly period: number }>(queries, text, [
          ...[name, Math.ceil(fromMs), periodMs, max],
        ])
      }),
    get: (decisionId) =>
      naming(READ, async () => {
        const text = `select ${COLUMNS} from decisions where decision_id = $1 order by time_ms desc limit 1`
        const row = await first<SharedRow>(queries, text, [decisionId])
        return row && toShared(row)
      }),
    ofExecution: (executionId, limit) =>
      naming(READ, async () => {
        const text = `select seq, decision_id, time_ms, kind, path, revision, outcome, application, caller from decisions
          where execution_id = $1 order by time_ms, seq limit $2`
        const rows = await all<SharedRow>(queries, text, [executionId, limit])
        return rows.map((row) => toDecisionHead(row, executionId))
      }),
  }
}

async function readPage(
  queries: Queries,
  filter: DecisionFilter,
  { rows, bytes, withInputs = true }: PageBounds,
  after: DecisionPosition | undefined,
): Promise<StoredDecisionPage> {
  const conditions = conditionsOf(filter)
  if (after !== undefined) conditions.add('(time_ms, seq) < (?, ?)', after.timeMs, after.seq)
  const limit = conditions.place(rows)
  const most = conditions.place(bytes)
  const columns = withInputs ? COLUMNS : COLUMNS.replace(' input,', ' null::bytea as input,')
  const text = `with found as materialized (
      select ${columns} from ${tableOf(filter)} where ${conditions.toString()} order by time_ms desc, seq desc limit ${limit}::int4 + 1
    ), measured as (
      select found.*, row_number() over newest_first as place, count(*) over () as found,
        sum(coalesce(octet_length(input), 0) + coalesce(octet_length(result), 0)) over newest_first as kept_bytes
      from found window newest_first as (order by time_ms desc, seq desc)
    )
    select ${COLUMNS}, found from measured where place = 1 or (place <= ${limit} and kept_bytes <= ${most}) order by place`
  const found = await all<FoundRow>(queries, text, conditions.values)
  const last = found.at(-1)
  const decisions = found.map(toShared)
  if (last === undefined || found.length === last.found) return { decisions }
  return { decisions, next: toPosition(last) }
}

/** The key of `decision_packages` includes time and number, in the order of a page. */
function tableOf({ package: name }: DecisionFilter): string {
  return name === undefined ? 'decisions' : 'decision_packages join decisions using (time_ms, seq)'
}

function conditionsOf(filter: DecisionFilter): Conditions {
  const { path, package: name, outcome, application, executionId, fromMs, toMs } = filter
  const conditions = new Conditions()
  if (path?.endsWith('/') === true) conditions.add('path ^@ ?', path)
  else if (path !== undefined) conditions.add('path = ?', path)
  if (name !== undefined) conditions.add('package = ?', name)
  if (outcome !== undefined) conditions.add('outcome = ?', outcome)
  if (outcome === 'deny' || outcome === 'error' || outcome === 'undefined') conditions.add(RARE_OUTCOMES)
  if (application !== undefined) conditions.add('application = ?', application)
  if (executionId !== undefined) conditions.add('execution_id = ?', executionId)
  if (fromMs !== undefined) conditions.add('time_ms >= ?', Math.ceil(fromMs))
  if (toMs !== undefined) conditions.add('time_ms < ?', Math.ceil(toMs))
  return conditions
}

function toShared(row: SharedRow): StoredDecision {
  return { ...toStoredDecision(row), replica: row.replica }
}

const READ = 'read decisions'
