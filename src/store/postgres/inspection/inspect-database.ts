import { requireOwnConnection } from '../engine/migrate.js'
import { toStoreError } from '../engine/postgres-error.js'
import type { PostgresSettings } from '../engine/postgres-settings.js'
import { Session } from '../engine/session.js'
import type { Queries } from '../engine/session.js'
import { first } from '../engine/statements.js'
import { serviceSchema } from '../migrations/service.js'
import { monthOf } from '../months/month.js'
import { listParts } from '../months/monthly-table.js'
import { REPLICA } from '../sharing/replica-leases.js'

/** Facts about a database and the user's rights in it. */
export interface DatabaseFacts {
  readonly server: ServerFacts
  /** Undefined if the database has no schema of ours. */
  readonly schema: SchemaFacts | undefined
}

export interface ServerFacts {
  /** `15.6`. */
  readonly version: string
  readonly encoding: string
  readonly isStandby: boolean
  readonly isEncrypted: boolean
  /** Connections allowed (without those for superusers) and open. */
  readonly connections: { readonly most: number; readonly open: number }
  /** Lead of the server's clock over this machine's, in milliseconds. */
  readonly clockOffsetMs: number
  /** Connected standbys, and those that commits wait for. */
  readonly standbys: { readonly following: number; readonly synchronous: number }
  readonly bytes: number
}

export interface SchemaFacts {
  readonly version: number
  readonly oldestWriter: number
  /** Schema version of this release. */
  readonly known: number
  readonly mayWrite: boolean
  /** Whether the user may create tables, as migrations and new months require. */
  readonly mayMakeTables: boolean
  /** Monthly tables without a table for the next month. */
  readonly withoutNextMonth: readonly string[]
  /** Services whose lease is valid. */
  readonly services: number
  /** Leases that expired more than a minute ago and that no service took over. */
  readonly leftWork: number
}

const TIMEOUTS = { statementMs: 10_000, lockMs: 3000 }
const MONTHLY = ['audit', 'decisions']
type Row<T> = T & Record<string, unknown>

/**
 * Inspects a database over one read-only connection. A standby is sufficient. Raises AppError
 * `unavailable`.
 */
export async function inspectDatabase(settings: PostgresSettings, now: () => number): Promise<DatabaseFacts> {
  const reached = { ...settings, takesStandby: true }
  const session = new Session(reached, TIMEOUTS)
  try {
    await requireOwnConnection(session, reached)
    const server = await inspectServer(session, now)
    const found = await first<{ found: string | null }>(
      session,
      "select to_regclass('store_schema')::text as found",
    )
    return { server, schema: found?.found == null ? undefined : await inspectSchema(session, now()) }
  } catch (raw) {
    throw toStoreError('inspect the database', raw)
  } finally {
    await session.close()
  }
}

async function inspectServer(queries: Queries, now: () => number): Promise<ServerFacts> {
  const startedMs = now()
  const row = await first<Row<Omit<ServerFacts, 'connections' | 'clockOffsetMs' | 'standbys'> & Counts>>(
    queries,
    `select current_setting('server_version') as version, current_setting('server_encoding') as encoding,
       pg_is_in_recovery() or current_setting('transaction_read_only') = 'on' as "isStandby",
       coalesce((select ssl from pg_stat_ssl where pid = pg_backend_pid()), false) as "isEncrypted",
       current_setting('max_connections')::int4 - current_setting('superuser_reserved_connections')::int4 as most,
       (select count(*)::int4 from pg_stat_activity where backend_type = 'client backend') as open,
       (select count(*)::int4 from pg_stat_replication) as following,
       (select count(*)::int4 from pg_stat_replication where sync_state in ('sync', 'quorum')) as synchronous,
       (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms,
       pg_database_size(current_database()) as bytes`,
  )
  if (row === undefined) throw new Error('it returned no facts')
  const { version, encoding, isStandby, isEncrypted, bytes } = row
  return {
    ...{ version, encoding, isStandby, isEncrypted, bytes },
    connections: { most: row.most, open: row.open },
    standbys: { following: row.following, synchronous: row.synchronous },
    clockOffsetMs: row.now_ms - (startedMs + now()) / 2,
  }
}

interface Counts {
  readonly most: number
  readonly open: number
  readonly following: number
  readonly synchronous: number
  readonly now_ms: number
}

async function inspectSchema(queries: Queries, nowMs: number): Promise<SchemaFacts> {
  const row = await first<Row<Omit<SchemaFacts, 'known' | 'withoutNextMonth'>>>(
    queries,
    `select version, oldest_writer as "oldestWriter",
       has_schema_privilege(current_schema(), 'create') as "mayMakeTables",
       not exists (select from pg_class where relkind in ('r', 'p') and relnamespace = current_schema()::regnamespace
         and not (has_table_privilege(oid, 'select') and has_table_privilege(oid, 'insert'))) as "mayWrite",
       (select count(*)::int4 from leases where kind = $1 and until > clock_timestamp()) as services,
       (select count(*)::int4 from leases where kind <> $1 and until < clock_timestamp() - interval '1 minute') as "leftWork"
     from store_schema`,
    [REPLICA],
  )
  if (row === undefined) throw new Error('the table store_schema is empty: run tidegate store migrate')
  const withoutNextMonth = []
  for (const table of MONTHLY) {
    const { toMs } = monthOf(table, nowMs, 1)
    const parts = await listParts(queries, table)
    if (!parts.some((part) => part.toMs >= toMs)) withoutNextMonth.push(table)
  }
  const { version, oldestWriter, mayMakeTables, mayWrite, services, leftWork } = row
  const known = serviceSchema.version
  return {
    ...{ version, oldestWriter, known, mayWrite, mayMakeTables },
    ...{ withoutNextMonth, services, leftWork },
  }
}
