import type { DecisionReceiver } from '../../ports/decision-shipping.js'
import type { StoredDecision } from '../../ports/decision-store.js'
import { requireWritable } from '../engine/migrate.js'
import type { Schema } from '../engine/migrate.js'
import { isAboutOneCall, toStoreError } from '../engine/postgres-error.js'
import type { PostgresSettings } from '../engine/postgres-settings.js'
import { Session, withoutNul } from '../engine/session.js'
import { run } from '../engine/statements.js'
import { monthOf } from '../months/month.js'
import type { Month } from '../months/month.js'
import { addMonthsAlone } from '../months/monthly-table.js'
import { DECISIONS } from './decision-months.js'

const TIMEOUTS = { statementMs: 30_000, lockMs: 5000 }
const ACTION = 'ship decisions to the database'

type Value = string | number | Buffer | null

/** Name, type and value of each column. */
const COLUMNS: readonly (readonly [
  name: string,
  type: string,
  value: (decision: StoredDecision) => Value,
])[] = [
  ['decision_id', 'text', ({ decisionId }) => withoutNul(decisionId)],
  ['time_ms', 'int8', ({ timeMs }) => Math.trunc(timeMs)],
  ['kind', 'text', ({ kind }) => kind],
  ['path', 'text', ({ path }) => withoutNul(path)],
  ['revision', 'text', ({ revision }) => withoutNul(revision)],
  ['outcome', 'text', ({ outcome }) => outcome],
  ['application', 'text', ({ application }) => withoutNul(application)],
  ['execution_id', 'text', ({ executionId }) => withoutNul(executionId)],
  ['caller', 'text', ({ caller }) => withoutNul(caller)],
  ['duration_ns', 'int8', ({ durationNs }) => Math.trunc(durationNs)],
  ['request_id', 'text', ({ requestId }) => withoutNul(requestId)],
  ['error', 'text', ({ error }) => withoutNul(error)],
  ['input_bytes', 'int8', ({ inputBytes }) => inputBytes],
  ['input_truncated', 'int4', ({ inputTruncated }) => Number(inputTruncated)],
  ['result_truncated', 'int4', ({ resultTruncated }) => Number(resultTruncated)],
  ['result', 'bytea', ({ result }) => asBuffer(result)],
  ['input', 'bytea', ({ input }) => asBuffer(input)],
  ['nd_builtin_cache', 'bytea', ({ ndBuiltinCache }) => asBuffer(ndBuiltinCache)],
  ['packages', 'bytea', ({ packages }) => asBuffer(packages)],
  ['trace_id', 'text', ({ traceId }) => withoutNul(traceId)],
]
const NAMES = COLUMNS.map(([name]) => name).join(', ')
const NEXT = COLUMNS.length + 2
/** Inserts new decisions, and the denying packages of these. */
const INSERT = `with kept as (
    insert into decisions (replica, ${NAMES})
    select $1, ${NAMES} from unnest(${COLUMNS.map(([, type], index) => `$${index + 2}::${type}[]`).join(', ')})
      as shipped (${NAMES})
    on conflict do nothing returning decision_id, time_ms, seq
  )
  insert into decision_packages (package, time_ms, seq)
    select package, time_ms, seq from kept
    join unnest($${NEXT}::text[], $${NEXT + 1}::text[]) as denying (decision_id, package) using (decision_id)
  on conflict do nothing`

/**
 * Opens the shared log for one replica, over a connection of its own. `schema` is the one that the
 * replica knows.
 */
export function openDecisionReceiver(
  settings: PostgresSettings,
  replica: string,
  schema: Pick<Schema, 'version'>,
): DecisionReceiver {
  return new PostgresDecisionReceiver(new Session(settings, TIMEOUTS), replica, schema)
}

class PostgresDecisionReceiver implements DecisionReceiver {
  readonly #session: Session
  readonly #replica: string
  readonly #schema: Pick<Schema, 'version'>
  /** Months that are known to exist. */
  readonly #months = new Set<string>()

  constructor(session: Session, replica: string, schema: Pick<Schema, 'version'>) {
    this.#session = session
    this.#replica = replica
    this.#schema = schema
  }

  async keep(decisions: readonly StoredDecision[]): Promise<void> {
    try {
      await this.#insert(decisions)
    } catch (raw) {
      throw toStoreError(ACTION, raw)
    }
  }

  async close(): Promise<void> {
    await this.#session.close()
  }

  async #insert(decisions: readonly StoredDecision[]): Promise<void> {
    const knewMonths = this.#months.size > 0
    try {
      await requireWritable(this.#session, this.#schema)
      await this.#addMonths(decisions)
      const columns = COLUMNS.map(([, , value]) => decisions.map(value))
      const denying = decisions.flatMap(({ decisionId, packages }) =>
        packageNames(packages).map((name) => [withoutNul(decisionId), withoutNul(name)] as const),
      )
      await run(this.#session, INSERT, [
        ...[withoutNul(this.#replica), ...columns],
        ...[denying.map(([decisionId]) => decisionId), denying.map(([, name]) => name)],
      ])
    } catch (raw) {
      await this.#session.rollBack()
      this.#months.clear()
      // A known month may have been removed.
      if (knewMonths && isAboutOneCall(raw)) await this.#insert(decisions)
      else throw raw
    }
  }

  async #addMonths(decisions: readonly StoredDecision[]): Promise<void> {
    const missing = new Map<string, Month>()
    for (const { timeMs } of decisions) {
      const month = monthOf(DECISIONS.name, timeMs)
      if (!this.#months.has(month.name)) missing.set(month.name, month)
    }
    if (missing.size === 0) return
    await addMonthsAlone(this.#session, DECISIONS, [...missing.values()])
    for (const name of missing.keys()) this.#months.add(name)
  }
}

function asBuffer(bytes: Uint8Array | null): Buffer | null {
  return bytes && Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/**
 * Names of the denying packages of a decision. The last element may be a count of omitted packages.
 */
function packageNames(packages: Uint8Array | null): string[] {
  if (packages === null) return []
  const elements = JSON.parse(Buffer.from(packages).toString()) as readonly { readonly package?: string }[]
  return [...new Set(elements.flatMap(({ package: name }) => name ?? []))]
}
