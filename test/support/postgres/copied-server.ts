import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PostgresSettings } from '../../../src/store/postgres/engine/postgres-settings.js'
import { freePort } from '../free-port.js'
import { untilReady } from './postgres-server.js'
import type { PostgresServer } from './postgres-server.js'
import { postgresHome, runPostgres, runPostgresProgram } from './run-postgres.js'

/** The records of a server as they once were, which can be run as another server. */
export interface CopiedServer {
  /** Of its first database. */
  readonly settings: PostgresSettings
  /** Runs it with a few more settings; resolves when it takes connections. */
  readonly start: (more?: Readonly<Record<string, string>>) => Promise<void>
  readonly stop: () => Promise<void>
  /** Stops it immediately and removes its records. */
  readonly remove: () => Promise<void>
}

/**
 * Copies a server that runs (`pg_basebackup` with these arguments), and puts empty files of these
 * names among the records.
 */
export async function copyServer(
  { settings: primary }: PostgresServer,
  args: readonly string[],
  files: readonly string[] = [],
): Promise<CopiedServer> {
  const base = mkdtempSync(join(tmpdir(), 'tidegate-pg-copy-'))
  const home = postgresHome(base)
  const { user } = home
  const give = (path: string): void => {
    if (user !== undefined) chownSync(path, user.uid, user.gid)
  }
  chmodSync(base, 0o755)
  give(base)
  const directory = join(base, 'data')
  const { host, port: from, user: name, password = '' } = primary
  const connection = `host=${host} port=${from} user=${name} password=${password} application_name=standby`
  const usual = ['-D', directory, '-d', connection, '--checkpoint=fast', '--no-sync']
  runPostgresProgram(home, 'pg_basebackup', [...usual, ...args])
  for (const file of files) {
    writeFileSync(join(directory, file), '')
    give(join(directory, file))
  }
  const port = await freePort()
  const settings = { ...primary, port }
  let stop = (): Promise<void> => Promise.resolve()
  return {
    settings,
    start: async (more = {}) => {
      const server = runPostgres(home, directory, {
        port: String(port),
        listen_addresses: '127.0.0.1',
        unix_socket_directories: base,
        fsync: 'off',
        max_connections: '300',
        ...more,
      })
      stop = server.stop
      server.start()
      await untilReady(settings)
    },
    stop: () => stop(),
    remove: async () => {
      await stop()
      rmSync(base, { recursive: true, force: true })
    },
  }
}
