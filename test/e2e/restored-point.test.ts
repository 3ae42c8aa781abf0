import { dirname, join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'

import { ask, objectOf } from '../support/http-client.js'
import { copyServer } from '../support/postgres/copied-server.js'
import type { CopiedServer } from '../support/postgres/copied-server.js'
import { postgresPrograms } from '../support/postgres/postgres-programs.js'
import { query } from '../support/postgres/postgres-server.js'
import { approve, idOf, statusAt, trigger, useReplicas } from '../support/postgres/replica-services.js'
import { databaseUrl } from '../support/postgres/store-section.js'
import { runTidegate } from '../support/run-tidegate.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { waitUntil } from '../support/wait-until.js'

// Commands of the server run in the directory of its records.
const { start, server, database, receiver, callbacksOf } = useReplicas({
  archive_mode: 'on',
  archive_command: 'mkdir -p ../archive && cp %p ../archive/%f',
  full_page_writes: 'on',
})
/** Of instances of gates. */
const NUMBERS = "pg_get_serial_sequence('gate_instances', 'id')"
let restored: CopiedServer | undefined

afterEach(async () => {
  await restored?.remove()
  restored = undefined
})

/** The end of the trail, as `--expected` takes it. */
async function endAt({ url }: TidegateProcess): Promise<string> {
  const { end } = objectOf(await ask(url, { path: '/audit/verify' })) as {
    end: { seq: number; hash: string }
  }
  return `${end.seq}:${end.hash}`
}

async function first<T>(text: string): Promise<T> {
  const [row] = await query<{ value: T }>(database(), `select ${text} as value`)
  if (row === undefined) throw new Error(`nothing: ${text}`)
  return row.value
}

/** Resolves when the current log of the server has reached the archive. */
async function archived(): Promise<void> {
  const file = await first<string>('pg_walfile_name(pg_switch_wal())')
  await waitUntil(
    async () =>
      (await first<string | null>('(select last_archived_wal from pg_stat_archiver)')) === file || undefined,
    () => `${file} is not archived`,
  )
}

describe.skipIf(postgresPrograms() === undefined)('a database', { timeout: 120_000 }, () => {
  it('is restored to a point in time: its trail ends there, is proven to, and services go on from it', async () => {
    const backup = await copyServer(server(), [], ['recovery.signal'])
    restored = backup
    const before = await start()
    const waiting = idOf(await trigger(before, 'e1', receiver().url))
    const endThen = await endAt(before)
    const time = await first<string>('clock_timestamp()::text')
    await approve(before, waiting)
    await waitUntil(
      () => callbacksOf('e1')[0],
      () => 'no callback came',
    )
    await query(database(), `select setval(${NUMBERS}, 500)`)
    const lost = idOf(await trigger(before, 'e2', receiver().url))
    const endLater = await endAt(before)
    await before.end('SIGTERM')
    await archived()
    await backup.start({
      restore_command: `cp ${join(dirname(server().directory), 'archive')}/%f %p`,
      recovery_target_time: time,
      recovery_target_action: 'promote',
    })
    const { host, port, password = '' } = backup.settings
    const there = { ...database(), host, port }
    await waitUntil(
      async () => {
        const [row] = await query<{ over: boolean }>(there, 'select not pg_is_in_recovery() as over')
        return row?.over === true || undefined
      },
      () => 'it is not restored',
    )
    const verify = (expected: string) =>
      runTidegate(['audit', 'verify', '--store', databaseUrl(there), '--expected', expected], {
        env: { PGPASSWORD: password },
      })
    const proven = await verify(endThen)
    expect(proven).toMatchObject({ exitCode: 0 })
    expect(proven.stdout).toContain('intact')
    expect((await verify(endLater)).exitCode).toBe(1)

    // As the documentation says: a number that was given after that time is known to the
    // orchestrator as another's.
    await query(there, `select setval(id, greatest(nextval(id), ${lost})) from ${NUMBERS} id`)
    const after = await start({ database: { host, port } })
    expect(await statusAt(after, waiting)).toBe('activated')
    expect(idOf(await trigger(after, 'e3', receiver().url))).toBeGreaterThan(lost)
    await approve(after, waiting)
    await waitUntil(
      () => callbacksOf('e1')[1],
      () => 'no callback came of the decision that was made again',
    )
    expect(objectOf(await ask(after.url, { path: '/audit/verify' }))).toMatchObject({ isIntact: true })
    expect((await verify(endThen)).exitCode).toBe(0)
  })
})
