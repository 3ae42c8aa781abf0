import { randomUUID } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import { expect, it, onTestFinished } from 'vitest'

import { clientConfig } from '../../../src/store/postgres/engine/client-config.js'
import { query } from '../../support/postgres/postgres-server.js'
import { databaseOf } from '../../support/postgres/test-database.js'
import { makeWorkspace } from '../../support/workspace.js'

it('is read by each new connection, and what it held at the start counts while it is away', async () => {
  const settings = await databaseOf(randomUUID())
  const workspace = makeWorkspace({ password: 'one' })
  onTestFinished(workspace.remove)
  const passwordFile = join(workspace.path, 'password')
  const user = `rotated-${randomUUID()}`
  await query(settings, `create role "${user}" login password 'one'`)
  onTestFinished(async () => {
    await query(settings, `drop role "${user}"`)
  })
  const connect = async (): Promise<void> => {
    const client = new Client(
      clientConfig({ ...settings, user, password: 'one', passwordFile }, { statementMs: 5000 }),
    )
    await client.connect()
    await client.end()
  }
  await connect()
  rmSync(passwordFile)
  await connect()
  await query(settings, `alter role "${user}" password 'two'`)
  await expect(connect()).rejects.toMatchObject({ code: '28P01' })
  writeFileSync(passwordFile, 'two\n')
  await connect()
})
