import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Queries } from '../../../src/store/postgres/engine/session.js'
import { ReplicaLeases } from '../../../src/store/postgres/sharing/replica-leases.js'
import { query } from '../../support/postgres/postgres-server.js'
import { databaseOf, openTestDatabase } from '../../support/postgres/test-database.js'

const refuseDeletes = `
  create function refuse_delete() returns trigger language plpgsql as $$ begin raise exception 'not now'; end $$;
  create trigger refuse_delete before delete on leases for each row execute function refuse_delete()`

describe('the end of a replica in order', () => {
  it('is heard of by the others at once, and by those that had lost their connection when they have one again', async () => {
    const name = randomUUID()
    const [one, other] = [await openTestDatabase(name), await openTestDatabase(name)]
    const settings = await databaseOf(name)
    let heard = 0
    const isListening =
      "pg_stat_activity where datname = current_database() and query = 'listen tidegate_released'"
    await expect.poll(() => query(settings, `select pid from ${isListening}`)).toHaveLength(2)
    other.sharing?.whenReleased(() => heard++)
    await one.close()
    // Far sooner than anybody looks by himself.
    await expect.poll(() => heard).toBe(1)
    await query(settings, `select pg_terminate_backend(pid) from ${isListening}`)
    await expect.poll(() => heard).toBe(2)
    await other.close()
    expect(await query(settings, `select pid from ${isListening}`)).toEqual([])
  })
})

describe('the leases of a replica', () => {
  afterEach(() => {
    vi.useRealTimers()
  })

  it('end by themselves where they could not be released, while those that are held go on', async () => {
    const name = randomUUID()
    const [one, other] = [await openTestDatabase(name), await openTestDatabase(name)]
    const settings = await databaseOf(name)
    const held = await one.leases.take('work', 'held')
    const released = await one.leases.take('work', 'released')
    await query(settings, refuseDeletes)
    await released?.release()
    await query(settings, 'drop trigger refuse_delete on leases')
    await query(settings, "update leases set until = now() - interval '1 second'")
    const current = "select key from leases where until > now() and kind = 'work'"
    await expect.poll(() => query(settings, current)).toEqual([{ key: 'held' }])
    expect(await other.leases.take('work', 'released')).toBeDefined()
    expect(await other.leases.take('work', 'held')).toBeUndefined()
    expect(held?.lost.aborted).toBe(false)
    await Promise.all([one.close(), other.close()])
  })

  it('are let go of, and none is taken, while a newer release lets this one write no more', async () => {
    const name = randomUUID()
    const one = await openTestDatabase(name)
    const settings = await databaseOf(name)
    const lead = await one.leases.take('leader', 'upkeep')
    await query(settings, 'update store_schema set oldest_writer = 99')
    await expect.poll(() => lead?.lost.aborted).toBe(true)
    await expect.poll(() => query(settings, "select key from leases where kind = 'leader'")).toEqual([])
    expect(await one.leases.take('leader', 'upkeep')).toBeUndefined()
    // It says that it is alive all the same.
    expect(await query(settings, "select key from leases where kind = 'replica'")).toHaveLength(1)
    await query(settings, 'update store_schema set oldest_writer = 1')
    await expect.poll(() => one.leases.take('leader', 'upkeep')).toBeDefined()
    await one.close()
  })

  it('are given up when they may have ended, even while the database does not answer', async () => {
    vi.useFakeTimers()
    let isAnswering = true
    const queries = {
      query: () =>
        isAnswering ? Promise.resolve({ rows: [{}], rowCount: 1 }) : new Promise(() => undefined),
    } as unknown as Queries
    const leases = new ReplicaLeases({
      queries,
      owner: 'one',
      clock: Date.now,
      heartbeat: () => true,
      failed: () => undefined,
    })
    await leases.start()
    const lease = await leases.take('work', '1')
    isAnswering = false
    await vi.advanceTimersByTimeAsync(8000)
    expect(lease?.lost.aborted).toBe(false)
    await vi.advanceTimersByTimeAsync(1100)
    expect(lease?.lost.aborted).toBe(true)
  })
})
