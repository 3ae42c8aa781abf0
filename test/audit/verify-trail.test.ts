import { join } from 'node:path'
import Database from 'better-sqlite3'
import { beforeEach, describe, expect, it } from 'vitest'
import { applyRetention } from '../../src/audit/apply-retention.js'
import { CheckpointKeeper } from '../../src/audit/checkpoint-keeper.js'
import {
  generateSigningKey,
  makeCheckpointSigner,
  makeCheckpointVerifier,
} from '../../src/audit/checkpoint-signature.js'
import { verifyTrail } from '../../src/audit/verify-trail.js'
import type { Verification } from '../../src/audit/verify-trail.js'
import type { CheckpointSigner } from '../../src/audit/checkpoint-signature.js'
import type { AuditCheckpoint } from '../../src/store/ports/audit-store.js'
import { chainHash } from '../../src/store/trail/audit-chain.js'
import type { AuditTable } from '../../src/store/tables/audit-table.js'
import type { WriteOperation } from '../../src/store/ports/transaction.js'
import { useServiceStore } from '../support/service-store.js'
import type { TestStore } from '../support/service-store.js'

const open = useServiceStore()
const key = generateSigningKey()
const signer = makeCheckpointSigner(key.privateKey)

const append: WriteOperation<number, null> = {
  name: 'test.append',
  apply: async ({ audit }, count) => {
    for (let index = 0; index < count; index += 1) {
      const body = Buffer.from(`{"index":${index}}`)
      await audit.append({ timeMs: index, source: 'event', kind: 'k', user: 'ana', body })
    }
    return null
  },
}

let store: TestStore
let written: AuditCheckpoint[]

beforeEach(async () => {
  store = await open()
  written = []
})

function deps(by: CheckpointSigner | undefined) {
  const { writer, lookups, maintenance } = store
  return {
    writer,
    maintenance,
    now: () => 1_800_000_000_000,
    signer: by,
    written: (checkpoint: AuditCheckpoint) => written.push(checkpoint),
    audit: lookups.audit,
  }
}

function keeper(by: CheckpointSigner | 'nobody' = signer): CheckpointKeeper {
  return new CheckpointKeeper({
    ...deps(by === 'nobody' ? undefined : by),
    everyRecords: 10,
    everyMs: 60_000,
  })
}

function verify(...publicKeys: readonly string[]): Promise<Verification> {
  return verifyTrail({
    reader: store.reader,
    publicKeys: publicKeys.length === 0 ? [key.publicKey] : publicKeys,
  })
}

/** Changes the file directly, with its protections removed. */
function tamper(change: (database: Database.Database) => void): void {
  const database = new Database(join(store.dataDir, 'tidegate.db'))
  const triggers = database
    .prepare<[], string>("select name from sqlite_schema where type = 'trigger'")
    .pluck()
    .all()
  for (const name of triggers) database.exec(`drop trigger ${name}`)
  change(database)
  database.close()
}

/** Changes made by a forger who knows how links are computed. */
function rewriteFrom(database: Database.Database, seq: number): void {
  const rows = database
    .prepare<[number], AuditTable>('select * from audit where seq >= ? order by seq')
    .all(seq - 1)
  let previous: Uint8Array = rows[0]?.hash ?? Buffer.alloc(0)
  for (const row of rows.slice(1)) {
    const forged = { ...row, user: 'eve' }
    previous = chainHash(previous, forged, row.body)
    database.prepare('update audit set user = ?, hash = ? where seq = ?').run('eve', previous, row.seq)
  }
}

describe('a trail with signed checkpoints', () => {
  it('is intact, and every signature is verified', async () => {
    for (const count of [10, 15, 3]) {
      await store.writer.run(append, count)
      await keeper().writeIfDue()
    }
    await keeper().writeAtEnd('shutdown')
    expect(written.map(({ seq, reason }) => [seq, reason])).toEqual([
      [10, 'interval'],
      [25, 'interval'],
      [28, 'shutdown'],
    ])
    expect(await verify()).toMatchObject({
      isIntact: true,
      checked: 28,
      checkpoints: { total: 3, signed: 3, verified: 3 },
    })
  })

  it('shows a chain that was made again from some record on, however consistent it is', async () => {
    await store.writer.run(append, 10)
    await keeper().writeAtEnd('request')
    await store.writer.run(append, 10)
    await keeper().writeAtEnd('request')
    tamper((database) => rewriteFrom(database, 14))
    const found = await verify()
    expect(found).toMatchObject({ isIntact: false, firstBadSeq: 11, end: { seq: 10 } })
    expect(found.problems[0]).toMatch(/record 20, or one from 11 on, was rewritten/)
  })

  it('are written again after a while though the clock was set back by a day', async () => {
    await store.writer.run(append, 1)
    await keeper().writeIfDue()
    await store.writer.run(append, 1)
    const setBack = { ...deps(signer), now: () => Date.now() - 86_400_000 }
    const everyMs = 60_000
    await new CheckpointKeeper({ ...setBack, everyRecords: 10, everyMs }).writeIfDue()
    expect(written.map(({ seq }) => seq)).toEqual([1, 2])
  })

  it('shows that the end was cut off', async () => {
    await store.writer.run(append, 12)
    await keeper().writeAtEnd('request')
    tamper((database) => database.exec('delete from audit where seq > 9'))
    const found = await verify()
    expect(found).toMatchObject({ isIntact: false, firstBadSeq: 10 })
    expect(found.problems[0]).toMatch(/records 10 to 12 are missing at the end/)
  })

  it('shows by a link kept elsewhere that the end was cut off together with its checkpoints', async () => {
    await store.writer.run(append, 12)
    await keeper().writeAtEnd('request')
    const expected = await store.lookups.audit.end()
    tamper((database) => database.exec('delete from audit where seq > 9; delete from audit_checkpoints'))
    expect(await verifyTrail({ reader: store.reader })).toMatchObject({ isIntact: true })
    const found = await verifyTrail({ reader: store.reader, expected })
    expect(found).toMatchObject({ isIntact: false, firstBadSeq: 10 })
  })

  it.each([
    [
      'a checkpoint made to fit a forged chain',
      (hash: string) => `update audit_checkpoints set hash = x'${hash}'`,
    ],
    ['a changed time', () => 'update audit_checkpoints set at_ms = 5'],
    [
      'a signature taken away',
      () => 'update audit_checkpoints set signature = null, key_id = null where id = 2',
    ],
    ['all signatures taken away', () => 'update audit_checkpoints set signature = null, key_id = null'],
  ])('shows %s', async (_, sql) => {
    for (let round = 0; round < 2; round += 1) {
      await store.writer.run(append, 5)
      await keeper().writeAtEnd('request')
    }
    tamper((database) => {
      rewriteFrom(database, 8)
      const hash = database.prepare<[], Buffer>('select hash from audit where seq = 10').pluck().get()
      database.exec(sql(hash?.toString('hex') ?? ''))
    })
    expect(await verify()).toMatchObject({ isIntact: false })
  })

  it('does not take the signatures of another key', async () => {
    await store.writer.run(append, 5)
    await keeper().writeAtEnd('request')
    const found = await verify(generateSigningKey().publicKey)
    expect(found.problems).toEqual([expect.stringMatching(/no checkpoint is signed with the key/)])
  })

  it('knows the checkpoints of an earlier key by its public key', async () => {
    const later = generateSigningKey()
    await store.writer.run(append, 5)
    await keeper().writeAtEnd('request')
    await store.writer.run(append, 5)
    await keeper(makeCheckpointSigner(later.privateKey)).writeAtEnd('request')
    expect(await verify(later.publicKey)).toMatchObject({ isIntact: true, checkpoints: { verified: 1 } })
    expect(await verify(later.publicKey, key.publicKey)).toMatchObject({
      isIntact: true,
      checkpoints: { verified: 2, verifiedThroughSeq: 10 },
    })
    const found = await verify(key.publicKey)
    expect(found.problems).toEqual([expect.stringMatching(/record 10 is signed with an unknown key/)])
  })

  it.each(['null, null', "'abcd', 'signed by a forger'"])(
    'shows that the beginning was removed behind a forged checkpoint of retention: %s',
    async (keyAndSignature) => {
      await store.writer.run(append, 12)
      await keeper().writeAtEnd('request')
      tamper((database) =>
        database.exec(`insert into audit_checkpoints (id, seq, hash, at_ms, reason, key_id, signature)
          select 0, 7, hash, 5, 'retention', ${keyAndSignature} from audit where seq = 7;
          delete from audit where seq <= 7`),
      )
      expect(await verifyTrail({ reader: store.reader })).toMatchObject({ isIntact: true })
      const found = await verify()
      expect(found).toMatchObject({ isIntact: false, startsAfterSeq: 7 })
      expect(found.problems[0]).toMatch(/all records up to 7 are gone, .* not signed with a known key/)
    },
  )

  it('says of unsigned checkpoints that they are', async () => {
    await store.writer.run(append, 5)
    await keeper('nobody').writeAtEnd('request')
    expect(await verifyTrail({ reader: store.reader })).toMatchObject({
      isIntact: true,
      checkpoints: { total: 1, signed: 0, verified: 0 },
    })
  })
})

describe('retention', () => {
  const steps = {
    pause: () => Promise.resolve(),
    removalTime: Date.now,
    signal: new AbortController().signal,
  }

  it('goes in small steps with pauses, in which others write, and ends when it is told to', async () => {
    await store.writer.run(append, 400)
    const stopping = new AbortController()
    let pauses = 0
    const pause = async (): Promise<void> => {
      pauses += 1
      await store.writer.run(append, 1)
      if (pauses === 3) stopping.abort()
    }
    const recordedMs = (await store.lookups.audit.find(400))?.recordedMs ?? 0
    const options = {
      ...deps(signer),
      removalTime: () => recordedMs + 1000,
      maxAgeMs: 500,
      maxBytes: undefined,
    }
    expect(await applyRetention({ ...options, pause, signal: stopping.signal })).toBe(150)
    expect(await verify()).toMatchObject({ isIntact: true })
    expect(await applyRetention({ ...steps, ...options })).toBeGreaterThanOrEqual(250)
  })

  it('removes what is too old and leaves a signed checkpoint from which the chain verifies', async () => {
    await store.writer.run(append, 30)
    const recordedMs = (await store.lookups.audit.find(30))?.recordedMs ?? 0
    const options = { ...deps(signer), ...steps, removalTime: () => recordedMs + 1000, maxBytes: undefined }
    expect(await applyRetention({ ...options, maxAgeMs: 2000 })).toBe(0)
    expect(await applyRetention({ ...options, maxAgeMs: 500 })).toBe(30)
    await store.writer.run(append, 4)
    expect(written).toMatchObject([{ seq: 30, reason: 'retention' }])
    expect(await verify()).toMatchObject({ isIntact: true, checked: 4, startsAfterSeq: 30 })
  })

  it('removes the oldest records of a file that is too large', async () => {
    await store.writer.run(append, 400)
    const { bytes } = await store.lookups.audit.size()
    const removed = await applyRetention({
      ...deps(signer),
      ...steps,
      maxAgeMs: undefined,
      maxBytes: bytes / 2,
    })
    expect(removed).toBeGreaterThan(100)
    expect(removed).toBeLessThan(400)
    expect(await verify()).toMatchObject({ isIntact: true, checked: 400 - removed })
  })

  it('does not hide that records between its checkpoint and the rest are gone', async () => {
    await store.writer.run(append, 30)
    const { hash = '' } = (await store.lookups.audit.find(10)) ?? {}
    await store.writer.run<AuditCheckpoint, null>(
      {
        name: 'test.retain',
        apply: async ({ audit }, checkpoint) => {
          await audit.addCheckpoint(checkpoint)
          await audit.deleteThrough(10, 100)
          return null
        },
      },
      { seq: 10, hash, atMs: 1, reason: 'retention' },
    )
    tamper((database) => database.exec('delete from audit where seq < 15'))
    expect(await verifyTrail({ reader: store.reader })).toMatchObject({ isIntact: false, firstBadSeq: 11 })
  })
})

describe('a key', () => {
  it.each(['', 'nonsense', Buffer.from('x'.repeat(48)).toString('base64')])(
    'is refused when it is %j',
    (text) => {
      expect(() => makeCheckpointSigner(text)).toThrow(/tidegate audit keygen/)
      const name = 'audit.earlierPublicKeys[0]'
      expect(() => makeCheckpointVerifier(text, name)).toThrow(`${name} is not an Ed25519 key`)
    },
  )
})

describe('a trail without any checkpoint', () => {
  it('is a finding for whoever gives a key: it may have been emptied', async () => {
    const { reader } = store
    const options = { reader, publicKeys: [key.publicKey] }
    expect(await verifyTrail({ ...options, expectsSignatures: true })).toMatchObject({
      isIntact: false,
      problems: [expect.stringContaining('the trail is empty, without any checkpoint')],
    })
    expect(await verifyTrail(options)).toMatchObject({
      isIntact: true,
      checkpoints: { signaturesChecked: true },
    })
    await store.writer.run(append, 3)
    expect(await verifyTrail({ ...options, expectsSignatures: true })).toMatchObject({ isIntact: false })
  })

  it('says that signatures were not checked where there is no key', async () => {
    expect(await verifyTrail({ reader: store.reader })).toMatchObject({
      isIntact: true,
      checkpoints: { signaturesChecked: false },
    })
  })
})
