import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { expect, inject, it } from 'vitest'
import { triggerGate } from '../../../src/gates/triggering/trigger-gate.js'
import { saveGateChanges } from '../../../src/gates/definitions/declare-gates.js'
import { verifyTrail } from '../../../src/audit/verify-trail.js'
import { appendAll, entries, entry } from '../../support/filled-trail.js'
import { makeGate, makeTrigger } from '../../support/gates.js'
import { temporaryFolder } from '../../support/decisions.js'
import { postgresPrograms } from '../../support/postgres/postgres-programs.js'
import { createDatabase, query } from '../../support/postgres/postgres-server.js'
import { useReplicaStores } from '../../support/postgres/replica-stores.js'
import { databaseOf } from '../../support/postgres/test-database.js'

const open = useReplicaStores()

it('a dump that is restored holds the same chain, gives no number twice, and continues', async () => {
  const [name, restoredName] = [randomUUID(), randomUUID()]
  const { database } = await databaseOf(name)
  const store = await open(name)
  await store.writer.run(saveGateChanges, [{ kind: 'gate.declared', gate: makeGate() }])
  const before = await store.writer.run(triggerGate, makeTrigger({ executionId: 'before' }))
  await store.writer.run(appendAll, entries(50))
  const end = await store.lookups.audit.end()

  const server = inject('postgres')
  if (server === undefined) throw new Error('PostgreSQL is not installed')
  const { host, port, user, password = '' } = server
  const file = join(temporaryFolder(), 'tidegate.dump')
  const run = (program: string, ...args: readonly string[]): void => {
    const at = ['--host', host, '--port', String(port), '--username', user, '--no-password']
    const env = { ...process.env, PGPASSWORD: password }
    execFileSync(join(postgresPrograms() ?? '', program), [...at, ...args], { env, stdio: 'pipe' })
  }
  run('pg_dump', '--format=custom', '--file', file, database)
  const { database: restored } = await databaseOf(restoredName)
  await query(server, `drop database "${restored}"`)
  await createDatabase(server, restored)
  run('pg_restore', '--exit-on-error', '--dbname', restored, file)

  const again = await open(restoredName)
  const proof = { reader: again.reader, expected: end }
  expect(await verifyTrail(proof)).toMatchObject({ isIntact: true, end })
  const [known, added] = await again.writer.run(appendAll, [entry(3), entry(1000)])
  expect(known).toBeLessThan(end.seq)
  expect(added).toBe(end.seq + 1)
  const after = await again.writer.run(triggerGate, makeTrigger({ executionId: 'after' }))
  expect(after.instance.id).toBeGreaterThan(before.instance.id)
  expect(await verifyTrail(proof)).toMatchObject({ isIntact: true })
  await expect(query({ ...server, database: restored }, 'delete from audit')).rejects.toThrow('append-only')
})
