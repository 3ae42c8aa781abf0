import { execFileSync, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import type { PostgresSettings } from '../../../src/store/postgres/engine/postgres-settings.js'
import { freePort } from '../free-port.js'
import { waitUntil } from '../wait-until.js'
import { postgresPrograms } from './postgres-programs.js'

/** A PostgreSQL of its own on a port of loopback, with nothing in it that must last. */
export interface PostgresServer {
  /** Of its first database. */
  readonly settings: PostgresSettings
  /** The directory of its records, for `pg_ctl`. */
  readonly directory: string
  /** Stops it at once, as a crash would, and starts it again on the same port. */
  readonly restart: (whileStopped?: () => Promise<void>) => Promise<void>
  /** Stops it at once and removes its records. */
  readonly remove: () => Promise<void>
}

const PASSWORD = 'loopback-only'

/**
 * Starts a server with these settings beside those that make it quick, and these files, by name, in its directory; throws where
 * PostgreSQL is not installed.
 */
export async function startPostgres(
  more: Readonly<Record<string, string>> = {},
  files: Readonly<Record<string, string>> = {},
): Promise<PostgresServer> {
  const programs = postgresPrograms()
  if (programs === undefined) throw new Error('PostgreSQL is not installed')
  const user = asWhom()
  const base = mkdtempSync(join(tmpdir(), 'tidegate-pg-'))
  chmodSync(base, 0o755)
  const directory = join(base, 'data')
  const passwordFile = join(base, 'password')
  writeFileSync(passwordFile, PASSWORD)
  if (user !== undefined) for (const path of [base, passwordFile]) chownSync(path, user.uid, user.gid)
  const env = { ...process.env, LC_ALL: 'C.UTF-8', TZ: 'UTC' }
  execFileSync(
    join(programs, 'initdb'),
    [
      '-D',
      directory,
      '-U',
      'tidegate',
      '-A',
      'scram-sha-256',
      `--pwfile=${passwordFile}`,
      '-E',
      'UTF8',
      '--no-sync',
    ],
    { ...user, env, cwd: base, stdio: 'pipe' },
  )
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(directory, name), text, { mode: 0o600 })
    if (user !== undefined) chownSync(join(directory, name), user.uid, user.gid)
  }
  const port = await freePort()
  const settings = { host: '127.0.0.1', port, user: 'tidegate', database: 'postgres', password: PASSWORD }
  const options = {
    port: String(port),
    listen_addresses: '127.0.0.1',
    unix_socket_directories: base,
    fsync: 'off',
    full_page_writes: 'off',
    max_connections: '300',
    shared_buffers: '64MB',
    ...more,
  }
  const args = Object.entries(options).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  let child: ChildProcess | undefined
  const start = async (): Promise<void> => {
    child = spawn(join(programs, 'postgres'), ['-D', directory, ...args], {
      ...user,
      env,
      cwd: base,
      stdio: 'ignore',
    })
    await waitUntil(
      () => isReady(settings),
      () => 'PostgreSQL does not start',
    )
  }
  const stop = async (): Promise<void> => {
    const ended = new Promise((resolve) => child?.once('exit', resolve))
    // Immediate shutdown: it ends as in a crash (postgresql.org/docs/15/server-shutdown.html).
    child?.kill('SIGQUIT')
    await ended
  }
  const killAtExit = (): void => void child?.kill('SIGQUIT')
  process.once('exit', killAtExit)
  await start()
  return {
    settings,
    directory,
    restart: async (whileStopped = () => Promise.resolve()) => {
      await stop()
      await whileStopped().finally(start)
    },
    remove: async () => {
      process.off('exit', killAtExit)
      await stop()
      rmSync(base, { recursive: true, force: true })
    },
  }
}

/** Makes another database on a server, empty or like another one that nobody is connected to. */
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

async function isReady(settings: PostgresSettings): Promise<true | undefined> {
  try {
    await query(settings, 'select 1')
    return true
  } catch {
    return undefined
  }
}

/** PostgreSQL refuses to run as root: whom to run it as then. */
function asWhom(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const idOf = (kind: '-u' | '-g', name: string): number =>
    Number(execFileSync('id', [kind, name], { stdio: 'pipe' }))
  for (const name of ['postgres', 'nobody']) {
    try {
      return { uid: idOf('-u', name), gid: idOf('-g', name) }
    } catch {
      // There is no such user.
    }
  }
  throw new Error('PostgreSQL does not run as root, and there is no user to run it as')
}
