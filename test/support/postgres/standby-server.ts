import { waitUntil } from '../wait-until.js'
import { copyServer } from './copied-server.js'
import type { CopiedServer } from './copied-server.js'
import { query } from './postgres-server.js'
import type { PostgresServer } from './postgres-server.js'

/** A server that follows another one, and can take its place. */
export interface StandbyServer extends Omit<CopiedServer, 'start'> {
  /** From now on commits wait until this standby has them. */
  readonly makeSynchronous: () => Promise<void>
  /** Makes it take writes. */
  readonly promote: () => Promise<void>
}

/** Copies a server and follows it from there on. */
export async function startStandby(primary: PostgresServer): Promise<StandbyServer> {
  const { settings, start, stop, remove } = await copyServer(primary, ['--write-recovery-conf'])
  await start()
  return {
    ...{ settings, stop, remove },
    makeSynchronous: async () => {
      await query(primary.settings, "alter system set synchronous_standby_names = 'standby'")
      await query(primary.settings, 'select pg_reload_conf()')
      await waitUntil(
        async () => {
          const text = "select 1 from pg_stat_replication where sync_state = 'sync'"
          return (await query(primary.settings, text)).length > 0 || undefined
        },
        () => 'the standby does not follow',
      )
    },
    promote: async () => {
      await query(settings, 'select pg_promote()')
    },
  }
}
