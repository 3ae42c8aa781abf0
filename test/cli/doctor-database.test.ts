import { describe, expect, it } from 'vitest'

import { postgresPrograms } from '../support/postgres/postgres-programs.js'
import { query } from '../support/postgres/postgres-server.js'
import { trigger, useReplicas } from '../support/postgres/replica-services.js'
import { storeSection } from '../support/postgres/store-section.js'
import type { PostgresSettings } from '../../src/store/postgres/engine/postgres-settings.js'
import { runTidegate } from '../support/run-tidegate.js'
import type { ProgramRun } from '../support/run-tidegate.js'
import { makeWorkspace } from '../support/workspace.js'

const { start, database, receiver } = useReplicas()
/** Nothing listens at this address. */
const NOBODY = 'http://127.0.0.1:1'

/** Returns the findings for a configuration with this database. */
async function doctor(settings: PostgresSettings, url = NOBODY): Promise<ProgramRun> {
  const workspace = makeWorkspace({})
  try {
    const config = { store: storeSection(workspace, settings), dataDir: `${workspace.path}/data` }
    workspace.write({ 'tidegate.json': JSON.stringify(config) })
    return await runTidegate(['doctor', '--config', 'tidegate.json', '--url', url], { cwd: workspace.path })
  } finally {
    workspace.remove()
  }
}

describe.skipIf(postgresPrograms() === undefined)(
  'tidegate doctor, of a database',
  { timeout: 90_000 },
  () => {
    it('finds everything right where a service runs on it, and changes nothing', async () => {
      const service = await start()
      await trigger(service, 'e1', receiver().url)
      const { stdout } = await doctor(database(), service.url)
      expect(stdout).toMatch(/ok +database: PostgreSQL \d+.*, \d+ MiB: /)
      expect(stdout).toMatch(/ok +primary: writable; 0 standbys/)
      expect(stdout).toMatch(/ok +schema: \d+, current/)
      expect(stdout).toMatch(/ok +permissions: the user may write and make tables/)
      expect(stdout).toMatch(/ok +services: 1 running/)
      expect(stdout).toMatch(/ok +clock: .*whose clock is authoritative/)
      expect(stdout).toMatch(/ok +connections: \d+ of \d+ in use; a service needs up to 14/)
      expect(stdout).toMatch(/ok +trail: intact to its end \d+:[0-9a-f]{64}/)
      expect(stdout).not.toContain('tidegate.db')
    })

    it('says of one without a schema, with a newer one, and of a user who may too little, what to do', async () => {
      const settings = database()
      expect((await doctor(settings)).stdout).toMatch(/warning +schema: not created yet/)
      const service = await start()
      expect(await service.end('SIGTERM')).toBe(0)
      await query(
        settings,
        `drop role if exists only_reads; create role only_reads login password 'loopback-only';
       grant select on all tables in schema public to only_reads`,
      )
      const reading = await doctor({ ...settings, user: 'only_reads' })
      expect(reading.exitCode).toBe(1)
      expect(reading.stdout).toMatch(
        /WRONG +permissions: the user cannot write all tables\n +make it the owner/,
      )
      expect(reading.stdout).toMatch(/warning +months: .*decisions\n +run tidegate store migrate/)
      await query(settings, 'update store_schema set version = 99, oldest_writer = 99')
      expect((await doctor(settings)).stdout).toMatch(
        /WRONG +schema: migrated to 99 by a newer release.*\n +upgrade this program/,
      )
    })

    it('names a record that was changed, and a database that does not answer', async () => {
      const settings = database()
      const service = await start()
      await trigger(service, 'e1', receiver().url)
      await query(settings, 'alter table audit disable trigger user')
      const [part] = await query<{ name: string }>(
        settings,
        "select inhrelid::regclass::text as name from pg_inherits where inhparent = 'audit'::regclass",
      )
      await query(settings, `alter table ${part?.name ?? ''} disable trigger user`)
      await query(settings, "update audit set kind = 'forged' where seq = 1")
      const changed = await doctor(settings)
      expect(changed.exitCode).toBe(1)
      expect(changed.stdout).toMatch(/WRONG +trail: .*record 1: it was changed/)
      const away = await doctor({ ...settings, port: 1 })
      expect(away.exitCode).toBe(1)
      expect(away.stdout).toMatch(/WRONG +database: .*cannot be reached/)
      expect(away.stdout + changed.stdout).not.toContain(settings.password)
    })
  },
)
