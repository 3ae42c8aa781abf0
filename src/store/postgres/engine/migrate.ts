import { Migrator, sql } from 'kysely'
import type { Kysely, Migration, RawBuilder } from 'kysely'
import { AppError, toError } from '../../../errors/app-error.js'
import { toStoreError } from './postgres-error.js'
import type { PostgresSettings } from './postgres-settings.js'
import { queryBuilder } from './session-dialect.js'
import { Session } from './session.js'
import type { Queries } from './session.js'
import { first } from './statements.js'

/**
 * Text that is ordered and compared by its bytes as in SQLite, whatever the database's collation.
 */
export const TEXT: RawBuilder<unknown> = sql`text collate "C"`
/** A schema with its migrations. */
export interface Schema {
  /** Migrations by name. They run in the order of their names. */
  readonly migrations: Readonly<Record<string, Migration>>
  /** Grows with every migration. */
  readonly version: number
  /** Oldest version that may still write. */
  readonly oldestWriter: number
}

/** The table `store_schema`. */
interface SchemaTables {
  store_schema: { version: number; oldest_writer: number }
}

/** First half of our advisory lock keys. The second half is the purpose. */
export const LOCK_CLASS = 0x54_47_73_76
const MIGRATING = 2
/** A migration may rewrite a table while others wait. */
const TIMEOUTS = { statementMs: 3_600_000, lockMs: 3_600_000 }
const PROBE_TIMEOUTS = { statementMs: 10_000, lockMs: 3000 }
const ACTION = 'migrate the database'

/**
 * Migrates the schema in one transaction and under a lock, even if several processes start
 * together. Returns whether anything was done. Raises AppError `unavailable` if the database is too
 * new for this release to write to, is not in UTF-8, or a migration fails.
 */
export async function migrate(settings: PostgresSettings, schema: Schema): Promise<boolean> {
  const session = new Session(settings, TIMEOUTS)
  try {
    await requireOwnConnection(session, settings)
    // The lock belongs to the session, since Kysely's migrator begins and ends transactions itself.
    // It ends with the connection.
    await session.query('select pg_advisory_lock($1, $2)', [LOCK_CLASS, MIGRATING])
    await requireUtf8(session)
    const db = queryBuilder<SchemaTables>(session)
    const found = await findVersion(db)
    requireWriter(schema, found)
    if (found !== undefined && found.version >= schema.version) return false
    await runMigrations(db, schema)
    return true
  } catch (raw) {
    throw toStoreError(ACTION, raw)
  } finally {
    await session.close()
  }
}

/**
 * Raises `unavailable` if a newer release has changed the schema so that this one may not write.
 */
export function requireWriter(
  { version }: Pick<Schema, 'version'>,
  found: { readonly oldestWriter: number } | undefined,
): void {
  if (found === undefined || version >= found.oldestWriter) return
  throw new AppError(
    'unavailable',
    `the database was migrated by a newer release (writing requires schema ${found.oldestWriter}, this release has ${version}): upgrade this replica`,
  )
}

/** Runs `requireWriter` with the version in the database, for writes outside of calls. */
export async function requireWritable(queries: Queries, schema: Pick<Schema, 'version'>): Promise<void> {
  const text = 'select oldest_writer as "oldestWriter" from store_schema'
  requireWriter(schema, await first<{ oldestWriter: number }>(queries, text))
}

/**
 * Raises `unavailable` behind a pooler in transaction mode: the locks, settings and prepared
 * statements of a session would be shared with others.
 */
export async function requireOwnConnection(session: Session, settings: PostgresSettings): Promise<void> {
  const other = new Session(settings, PROBE_TIMEOUTS)
  const servers: unknown[] = []
  try {
    for (const probed of [session, session, other]) {
      const [answer] = await probed.script('select pg_backend_pid() as pid')
      servers.push((answer?.rows as { pid: number }[])[0]?.pid)
    }
  } finally {
    await other.close()
  }
  if (servers[0] === servers[1] && servers[1] !== servers[2]) return
  throw new AppError(
    'unavailable',
    'the database is behind a pooler in transaction mode: set it to session mode (pool_mode = session), or set store.url to the server itself',
  )
}

async function requireUtf8(session: Session): Promise<void> {
  const { rows } = await session.query<{ encoding: string }>(
    "select current_setting('server_encoding') as encoding",
  )
  const encoding = rows[0]?.encoding
  if (encoding === 'UTF8') return
  throw new AppError(
    'unavailable',
    `the database is encoded in ${String(encoding)}: create it with encoding 'UTF8'`,
  )
}

async function findVersion(
  db: Kysely<SchemaTables>,
): Promise<{ readonly version: number; readonly oldestWriter: number } | undefined> {
  const { rows } = await sql<{
    found: string | null
  }>`select to_regclass('store_schema')::text as found`.execute(db)
  if (rows[0]?.found == null) return undefined
  const row = await db.selectFrom('store_schema').selectAll().executeTakeFirst()
  return row && { version: row.version, oldestWriter: row.oldest_writer }
}

/**
 * Kysely runs all migrations in one transaction. If the process ends before the version is updated,
 * the next start finds nothing else to do.
 */
async function runMigrations(
  db: Kysely<SchemaTables>,
  { migrations, version, oldestWriter }: Schema,
): Promise<void> {
  const migrator = new Migrator({ db, provider: { getMigrations: () => Promise.resolve(migrations) } })
  const { error } = await migrator.migrateToLatest()
  if (error !== undefined) throw toError(error)
  await db.updateTable('store_schema').set({ version, oldest_writer: oldestWriter }).execute()
}
