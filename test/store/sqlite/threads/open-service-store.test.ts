import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../../../src/errors/app-error.js'
import type { AuditEntry } from '../../../../src/store/ports/audit-store.js'
import type { WriteOperation } from '../../../../src/store/ports/transaction.js'
import { useSqliteStore } from '../../../support/service-store.js'

const open = useSqliteStore()

const entry = (kind: string, eventId?: string): AuditEntry => ({
  timeMs: 1_700_000_000_000,
  source: 'event',
  kind,
  eventId,
  body: Buffer.from(JSON.stringify({ kind })),
})

const append: WriteOperation<AuditEntry, { seq: number; isNew: boolean }> = {
  name: 'test.append',
  apply: ({ audit }, given) => audit.append(given),
}

const appendAndFail: WriteOperation<AuditEntry, never> = {
  name: 'test.append-and-fail',
  apply: async ({ audit }, given) => {
    await audit.append(given)
    throw new AppError('conflict', 'no')
  },
}

describe('the durable store', () => {
  it('gives each appended record the next place in the chain and reads it back whole', async () => {
    const { writer, lookups } = await open()
    const receipts = await Promise.all(['a', 'b', 'c'].map((kind) => writer.run(append, entry(kind))))
    expect(receipts.map(({ seq }) => seq)).toEqual([1, 2, 3])
    const record = await lookups.audit.find(2)
    expect(record).toMatchObject({ seq: 2, kind: 'b', source: 'event' })
    expect(Buffer.from(record?.body ?? []).toString()).toBe('{"kind":"b"}')
  })

  it('undoes only the operation that raised, and its place in the chain goes to the next', async () => {
    const { writer, reader } = await open()
    const outcomes = await Promise.allSettled([
      writer.run(append, entry('a')),
      writer.run(appendAndFail, entry('lost')),
      writer.run(append, entry('b')),
    ])
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(outcomes[1]).toMatchObject({ reason: { kind: 'conflict', message: 'no' } })
    const second = await reader.run(
      { name: 'test.find', apply: ({ audit }, seq: number) => audit.find(seq) },
      2,
    )
    expect(second?.kind).toBe('b')
  })

  it('keeps one record per event id, also within one commit', async () => {
    const { writer } = await open()
    const [first, again] = await Promise.all([
      writer.run(append, entry('a', 'e-1')),
      writer.run(append, entry('a', 'e-1')),
    ])
    expect(first).toEqual({ seq: 1, isNew: true })
    expect(again).toEqual({ seq: 1, isNew: false })
  })

  it('continues with the chain after it was opened again', async () => {
    const first = await open()
    await first.writer.run(append, entry('a'))
    await first.close()
    const second = await open(first.dataDir)
    expect(await second.writer.run(append, entry('b'))).toEqual({ seq: 2, isNew: true })
  })

  it('refuses a file that is no database, and leaves it as it is', async () => {
    const { dataDir, close } = await open()
    await close()
    writeFileSync(join(dataDir, 'tidegate.db'), 'not a database, but long enough to be looked at as one')
    await expect(open(dataDir)).rejects.toMatchObject({ kind: 'unavailable' })
  })
})
