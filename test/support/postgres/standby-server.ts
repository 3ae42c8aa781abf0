import { chmodSync, chownSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PostgresSettings } from '../../../src/store/postgres/engine/postgres-settings.js'
import { freePort } from '../free-port.js'
import { waitUntil } from '../wait-until.js'
import { query, untilReady } from './postgres-server.js'
import type { PostgresServer } from './postgres-server.js'
import { postgresHome, runPostgres, runPostgresProgram } from './run-postgres.js'

/** A server that follows another one, and can take its place. */
export interface StandbyServer {
  /** Of its first database. */
  readonly settings: PostgresSettings
  /** Lets nothing be committed there that is not here, too, from now on. */
  readonly makeSynchronous: () => Promise<void>
  /** Makes it take writes. */
  readonly promote: () => Promise<void>
  readonly stop: () => Promise<void>
  /** Stops it at once and removes its records. */
  readonly remove: () => Promise<void>
}

/** Copies a server and follows it from there on (`pg_basebackup`). */
export async function startStandby({ settings: primary }: PostgresServer): Promise<StandbyServer> {
  const base = mkdtempSync(join(tmpdir(), 'tidegate-pg-standby-'))
  const home = postgresHome(base)
  chmodSync(base, 0o755)
  if (home.user !== undefined) chownSync(base, home.user.uid, home.user.gid)
  const directory = join(base, 'data')
  const { host, port: from, user, password = '' } = primary
  const connection = `host=${host} port=${from} user=${user} password=${password} application_name=standby`
  const args = ['-D', directory, '-d', connection, '--write-recovery-conf', '--checkpoint=fast', '--no-sync']
  runPostgresProgram(home, 'pg_basebackup', args)
  const port = await freePort()
  const settings = { ...primary, port }
  const server = runPostgres(home, directory, {
    port: String(port),
    listen_addresses: '127.0.0.1',
    unix_socket_directories: base,
    fsync: 'off',
    max_connections: '300',
  })
  server.start()
  await untilReady(settings)
  return {
    settings,
    makeSynchronous: async () => {
      await query(primary, "alter system set synchronous_standby_names = 'standby'")
      await query(primary, 'select pg_reload_conf()')
      await waitUntil(
        async () => {
          const rows = await query(primary, "select 1 from pg_stat_replication where sync_state = 'sync'")
          return rows.length > 0 || undefined
        },
        () => 'the standby does not follow',
      )
    },
    promote: async () => {
      await query(settings, 'select pg_promote()')
    },
    stop: server.stop,
    remove: async () => {
      await server.stop()
      rmSync(base, { recursive: true, force: true })
    },
  }
}
