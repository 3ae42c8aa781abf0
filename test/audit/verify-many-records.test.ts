import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { verifyTrail } from '../../src/audit/verify-trail.js'
import type { WriteOperation } from '../../src/store/ports/transaction.js'
import { useSqliteStore } from '../support/service-store.js'

const open = useSqliteStore()
/** Read in more than two bunches. */
const MANY = 130

/** Appends as many records as bodies are given. */
const append: WriteOperation<readonly string[], null> = {
  name: 'test.append',
  apply: async ({ audit }, bodies) => {
    for (const [index, body] of bodies.entries())
      await audit.append({ timeMs: index, source: 'event', kind: 'k', body: Buffer.from(body) })
    return null
  },
}

/** Changes the file behind the service's back, with everything that refuses it out of the way. */
function tamper(dataDir: string, sql: string): void {
  const database = new Database(join(dataDir, 'tidegate.db'))
  const triggers = database
    .prepare<[], string>("select name from sqlite_schema where type = 'trigger'")
    .pluck()
    .all()
  for (const name of triggers) database.exec(`drop trigger ${name}`)
  database.exec(sql)
  database.close()
}

function small(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `{"index":${index}}`)
}

it.each([1, 2, 63, 64, 65, 127, 128, 129, MANY])(
  'of many records it shows which was changed: %i',
  async (seq) => {
    const { writer, reader, dataDir } = await open()
    await writer.run(append, small(MANY))
    tamper(dataDir, `update audit set kind = 'other' where seq = ${seq}`)
    const found = await verifyTrail({ reader })
    expect(found).toMatchObject({ isIntact: false, firstBadSeq: seq, checked: seq - 1 })
    expect(found.problems[0]).toMatch(/its content does not match its hash/)
  },
)

it.each([1, 63, 64, 65, 128, MANY - 1])('of many records it shows which was removed: %i', async (seq) => {
  const { writer, reader, dataDir } = await open()
  await writer.run(append, small(MANY))
  tamper(dataDir, `delete from audit where seq = ${seq}`)
  expect(await verifyTrail({ reader })).toMatchObject({ isIntact: false, firstBadSeq: seq, checked: seq - 1 })
})

it('follows bodies that are too large to be read together', async () => {
  const { writer, reader, dataDir } = await open()
  const large = Array.from({ length: 70 }, () => `"${randomBytes(50_000).toString('hex')}"`)
  await writer.run(append, [...small(3), ...large, ...small(3)])
  expect(await verifyTrail({ reader })).toMatchObject({ isIntact: true, checked: 76 })
  tamper(dataDir, 'update audit set body = zeroblob(3) where seq = 70')
  expect(await verifyTrail({ reader })).toMatchObject({ isIntact: false, firstBadSeq: 70 })
})
