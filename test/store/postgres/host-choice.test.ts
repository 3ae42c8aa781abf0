import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { HostChoice } from '../../../src/store/postgres/engine/host-choice.js'
import type { PostgresSettings } from '../../../src/store/postgres/engine/postgres-settings.js'
import { startPostgres } from '../../support/postgres/postgres-server.js'
import type { PostgresServer } from '../../support/postgres/postgres-server.js'
import { startStandby } from '../../support/postgres/standby-server.js'
import type { StandbyServer } from '../../support/postgres/standby-server.js'

let primary: PostgresServer
let standby: StandbyServer

beforeAll(async () => {
  primary = await startPostgres()
  standby = await startStandby(primary)
})

afterAll(async () => {
  await standby.remove()
  await primary.remove()
})

/** One host first, then another. */
function naming(one: PostgresSettings, other: PostgresSettings): PostgresSettings {
  return { ...one, otherHosts: [{ host: other.host, port: other.port }] }
}

describe('which of several hosts is connected to', () => {
  it('is the one that takes writes, whichever is named first, and after a failover the other', async () => {
    const [first, second] = [primary.settings, standby.settings]
    const reading = { ...second, takesStandby: true }
    const choices = [new HostChoice(naming(first, second)), new HostChoice(naming(second, first))]
    for (const choice of choices) expect((await choice.settings()).port).toBe(first.port)
    const nowhere = { ...first, port: 1 }
    const alone = new HostChoice(naming(nowhere, second))
    await expect(alone.settings()).rejects.toThrow(
      new RegExp(
        `no host of store.url accepts writes: 127.0.0.1:1 cannot be reached .*; 127.0.0.1:${second.port} is a standby`,
      ),
    )
    expect((await new HostChoice(naming(reading, nowhere)).settings()).port).toBe(second.port)

    await standby.promote()
    // Both take writes now: one of them must not, and it is the one that was there before.
    for (const choice of choices) {
      choice.recheck()
      expect((await choice.settings()).port).toBe(second.port)
    }
    await standby.stop()
    for (const choice of choices) {
      choice.recheck()
      await expect(choice.settings()).rejects.toThrow('timeline 1, newest known 2')
    }
  })
})
