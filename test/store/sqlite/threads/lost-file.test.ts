import { chmodSync, copyFileSync, existsSync, mkdtempSync, renameSync, rmSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import type { WriteOperation } from '../../../../src/store/ports/transaction.js'
import { claimDataDirectory } from '../../../../src/store/sqlite/engine/claim-data-directory.js'
import { useSqliteStore } from '../../../support/service-store.js'
import { waitUntil } from '../../../support/wait-until.js'

const open = useSqliteStore()

const append: WriteOperation<string, number> = {
  name: 'test.append',
  apply: async ({ audit }, kind) => {
    const body = Buffer.from('{}')
    return (await audit.append({ timeMs: 1_700_000_000_000, source: 'event', kind, body })).seq
  },
}

const LOST = { kind: 'unavailable', code: 'store_lost' }

describe('a store whose file is not where it was', () => {
  it.each(['tidegate.db', 'tidegate.db-wal', 'tidegate.db-shm'])(
    'acknowledges nothing while %s is away, and goes on when it is back',
    async (name) => {
      const { writer, dataDir, problem } = await open()
      expect(await writer.run(append, 'before')).toBe(1)
      const path = join(dataDir, name)
      renameSync(path, `${path}.away`)
      await expect(writer.run(append, 'lost')).rejects.toMatchObject(LOST)
      await waitUntil(
        () => problem()?.startsWith(`${name} is not at its path any more`),
        () => 'health does not tell of it',
      )
      expect(existsSync(path)).toBe(false)
      renameSync(`${path}.away`, path)
      await waitUntil(
        () => (problem() === undefined ? true : undefined),
        () => 'it does not go on',
      )
      expect(await writer.run(append, 'after')).toBe(2)
    },
  )

  it.each<readonly [string, (path: string) => void, RegExp]>([
    ['deleted', (path) => rmSync(path), /is not at its path/],
    [
      'replaced',
      (path) => {
        copyFileSync(path, `${path}.copy`)
        renameSync(`${path}.copy`, path)
      },
      /was replaced by another file/,
    ],
    ['made read-only', (path) => chmodSync(path, 0o400), /was made read-only/],
  ])('refuses at once what comes after it was %s, and says why', async (_, harm, message) => {
    const { writer, dataDir } = await open()
    harm(join(dataDir, 'tidegate.db'))
    await expect(writer.run(append, 'lost')).rejects.toMatchObject({
      ...LOST,
      message: expect.stringMatching(message) as unknown,
    })
  })

  it.each([0, 100])('acknowledges nothing once its write-ahead log was cut to %d bytes', async (length) => {
    const { writer, dataDir, problem } = await open()
    expect(await writer.run(append, 'before')).toBe(1)
    truncateSync(join(dataDir, 'tidegate.db-wal'), length)
    await expect(writer.run(append, 'lost')).rejects.toMatchObject(LOST)
    await waitUntil(
      () => problem()?.startsWith('tidegate.db-wal was truncated while it was open'),
      () => 'health does not tell of it',
    )
    await expect(writer.run(append, 'lost too')).rejects.toMatchObject(LOST)
  })

  it('acknowledges nothing of a commit under which the file went away', async () => {
    const { writer, lookups, dataDir } = await open()
    const path = join(dataDir, 'tidegate.db')
    const appendMeanwhile: typeof append = {
      name: 'test.append-meanwhile',
      apply: async (transaction, kind) => {
        const seq = await append.apply(transaction, kind)
        renameSync(path, `${path}.away`)
        return seq
      },
    }
    await expect(writer.run(appendMeanwhile, 'lost')).rejects.toMatchObject(LOST)
    expect(await lookups.audit.find(1)).toBeDefined()
  })

  it('puts what it has acknowledged into the database when the write-ahead log is removed', async () => {
    const { writer, dataDir } = await open()
    await writer.run(append, 'acknowledged')
    rmSync(join(dataDir, 'tidegate.db-wal'))
    await expect(writer.run(append, 'lost')).rejects.toMatchObject(LOST)
    // As it would be found after a crash.
    copyFileSync(join(dataDir, 'tidegate.db'), join(dataDir, 'found.db'))
    const found = new Database(join(dataDir, 'found.db'))
    expect(found.prepare('select kind from audit').pluck().all()).toEqual(['acknowledged'])
    found.close()
  })

  it('refuses to write once its lock is gone, which another service could then take', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'tidegate-lost-'))
    const release = claimDataDirectory(dataDir)
    const { writer } = await open(dataDir)
    rmSync(join(dataDir, 'tidegate.lock'))
    await expect(writer.run(append, 'lost')).rejects.toMatchObject(LOST)
    await release()
    rmSync(dataDir, { recursive: true })
  })

  it('refuses to write once its directory is gone, and creates no other', async () => {
    const { writer, dataDir } = await open()
    rmSync(dataDir, { recursive: true })
    await expect(writer.run(append, 'lost')).rejects.toMatchObject(LOST)
    expect(existsSync(dataDir)).toBe(false)
  })

  it('finds within a second or so that it was emptied or overwritten in place', async () => {
    const { writer, dataDir, problem } = await open()
    truncateSync(join(dataDir, 'tidegate.db'), 0)
    await waitUntil(
      () => problem()?.startsWith('tidegate.db was overwritten or emptied'),
      () => 'health does not tell of it',
    )
    await expect(writer.run(append, 'lost')).rejects.toMatchObject(LOST)
  })
})
