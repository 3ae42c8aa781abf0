import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import type { PostgresSettings } from '../../../src/store/postgres/engine/postgres-settings.js'
import { freePort } from '../free-port.js'
import { waitUntil } from '../wait-until.js'
import { languageOfServers, postgresHome, runPostgres, runPostgresProgram } from './run-postgres.js'

/** A PostgreSQL of its own on a port of loopback, with nothing in it that must last. */
export interface PostgresServer {
  /** Of its first database. */
  readonly settings: PostgresSettings
  /** The directory of its records, for `pg_ctl`. */
  readonly directory: string
  /** Stops it immediately, like a crash. */
  readonly stop: () => Promise<void>
  /** Stops it immediately and restarts it on the same port. */
  readonly restart: (whileStopped?: () => Promise<void>) => Promise<void>
  /** Stops it immediately and removes its records. */
  readonly remove: () => Promise<void>
}

const PASSWORD = 'loopback-only'

/**
 * Starts a server with these settings in addition to those for speed, and these files in its
 * directory. Throws if PostgreSQL is not installed.
 */
export async function startPostgres(
  more: Readonly<Record<string, string>> = {},
  files: Readonly<Record<string, string>> = {},
): Promise<PostgresServer> {
  const base = mkdtempSync(join(tmpdir(), 'tidegate-pg-'))
  const home = postgresHome(base)
  const { user } = home
  chmodSync(base, 0o755)
  const directory = join(base, 'data')
  const passwordFile = join(base, 'password')
  writeFileSync(passwordFile, PASSWORD)
  if (user !== undefined) for (const path of [base, passwordFile]) chownSync(path, user.uid, user.gid)
  const access = ['-A', 'scram-sha-256', `--pwfile=${passwordFile}`]
  runPostgresProgram(home, 'initdb', [
    '-D',
    directory,
    '-U',
    'tidegate',
    ...access,
    '-E',
    'UTF8',
    '--no-sync',
  ])
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(directory, name), text, { mode: 0o600 })
    if (user !== undefined) chownSync(join(directory, name), user.uid, user.gid)
  }
  const port = await freePort()
  const settings = { host: '127.0.0.1', port, user: 'tidegate', database: 'postgres', password: PASSWORD }
  const server = runPostgres(home, directory, {
    port: String(port),
    listen_addresses: '127.0.0.1',
    unix_socket_directories: base,
    fsync: 'off',
    full_page_writes: 'off',
    max_connections: '300',
    shared_buffers: '64MB',
    ...languageOfServers(),
    ...more,
  })
  const start = async (): Promise<void> => {
    server.start()
    await untilReady(settings)
  }
  await start()
  return {
    settings,
    directory,
    stop: server.stop,
    restart: async (whileStopped = () => Promise.resolve()) => {
      await server.stop()
      await whileStopped().finally(start)
    },
    remove: async () => {
      await server.stop()
      rmSync(base, { recursive: true, force: true })
    },
  }
}

/** Creates another database on a server, empty or as a copy of one without connections. */
export async function createDatabase(
  settings: PostgresSettings,
  name: string,
  template = 'template0',
): Promise<PostgresSettings> {
  await query(settings, `create database "${name}" template "${template}"`)
  return { ...settings, database: name }
}

/** Runs one statement on a connection of its own; gives its rows. */
export async function query<Row = Record<string, unknown>>(
  settings: PostgresSettings,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const { host, port, user, database, password } = settings
  const client = new Client({ host, port, user, database, password })
  client.on('error', () => undefined)
  await client.connect()
  try {
    return (await client.query(text, [...values])).rows as Row[]
  } finally {
    await client.end()
  }
}

/** Waits until a server takes connections. */
export async function untilReady(settings: PostgresSettings): Promise<void> {
  await waitUntil(
    () =>
      query(settings, 'select 1').then(
        () => true,
        () => undefined,
      ),
    () => 'PostgreSQL does not start',
  )
}
