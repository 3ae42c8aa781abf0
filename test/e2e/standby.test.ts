import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'

import { ask, objectOf, postJson } from '../support/http-client.js'
import { postgresPrograms } from '../support/postgres/postgres-programs.js'
import { query } from '../support/postgres/postgres-server.js'
import { approve, idOf, statusAt, trigger, useReplicas } from '../support/postgres/replica-services.js'
import { startStandby } from '../support/postgres/standby-server.js'
import type { StandbyServer } from '../support/postgres/standby-server.js'
import { databaseUrl } from '../support/postgres/store-section.js'
import { runTidegate } from '../support/run-tidegate.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { waitUntil } from '../support/wait-until.js'

const { start, server, database, receiver, callbacksOf } = useReplicas()
const CALLERS = 4
let standby: StandbyServer | undefined

afterEach(async () => {
  await standby?.remove()
  standby = undefined
})

/** Sends events with unique ids until stopped. Returns the acknowledged ids. */
async function sendEvents(at: TidegateProcess, caller: string, isOver: () => boolean): Promise<string[]> {
  const acknowledged: string[] = []
  for (let number = 0; !isOver(); number += 1) {
    const eventId = `${caller}-${number}`
    const event = { details: { type: 'orca:task:complete', created: '1', application: 'shop' }, eventId }
    const answer = await postJson(at.url, '/platform/echo', event)
    expect([200, 503]).toContain(answer.status)
    if (answer.status === 200) acknowledged.push(eventId)
    else await sleep(20)
  }
  return acknowledged
}

describe.skipIf(postgresPrograms() === undefined)('a database with a standby', { timeout: 120_000 }, () => {
  it('is killed and the standby promoted: services that name both go on, with all that they acknowledged', async () => {
    standby = await startStandby(server())
    await standby.makeSynchronous()
    const { host, port } = standby.settings
    const hosts = { ...database(), otherHosts: [{ host, port }] }
    const [one, other] = await Promise.all([start({ database: hosts }), start({ database: hosts })])
    const waiting = idOf(await trigger(one, 'e1', receiver().url))
    let isOver = false
    const loads = Array.from({ length: CALLERS }, (_, index) =>
      sendEvents(index % 2 === 0 ? one : other, `caller-${index}`, () => isOver),
    )
    await sleep(500)
    await server().stop()
    const away = await trigger(one, 'e2', receiver().url)
    expect(away.status).toBe(503)
    await waitUntil(
      async () =>
        JSON.stringify(objectOf(await ask(one.url, { path: '/health?plugins' }))).includes('is a standby') ||
        undefined,
      () => `health does not say why: ${one.logText()}`,
    )
    await standby.promote()
    for (const at of [one, other]) {
      await waitUntil(
        async () => (await trigger(at, 'e2', receiver().url)).status === 200 || undefined,
        () => `it does not go on: ${at.logText()}`,
      )
    }
    await sleep(300)
    isOver = true
    const acknowledged = (await Promise.all(loads)).flat()
    const after = { ...standby.settings, database: database().database }
    const kept = await query<{ event_id: string }>(
      after,
      'select event_id from audit where event_id is not null',
    )
    const counts = new Set(kept.map((row) => row.event_id))
    expect(counts.size).toBe(kept.length)
    expect(acknowledged.filter((eventId) => !counts.has(eventId))).toEqual([])
    expect(acknowledged.length).toBeGreaterThan(CALLERS)
    // Waiting instances are decided, and reported once.
    expect(await statusAt(other, waiting)).toBe('activated')
    await approve(other, waiting)
    await waitUntil(
      () => callbacksOf('e1')[0],
      () => `no callback came: ${one.logText()} ${other.logText()}`,
    )
    expect(callbacksOf('e1')).toHaveLength(1)
    expect(objectOf(await ask(one.url, { path: '/audit/verify' }))).toMatchObject({
      isIntact: true,
      problems: [],
    })
    // The killed server comes back as it was. No service returns to it.
    await server().restart()
    await query(database(), 'alter system reset synchronous_standby_names')
    await query(database(), 'select pg_reload_conf()')
    expect(await statusAt(one, idOf(await trigger(other, 'e3', receiver().url)))).toBe('activated')
    const late = await start({ database: hosts })
    expect(await statusAt(late, waiting)).toBe('approved')
  })

  it('proves its trail at the standby, which takes no writes', async () => {
    const one = await start()
    await trigger(one, 'e1', receiver().url)
    standby = await startStandby(server())
    const { host, port, password = '' } = standby.settings
    const env = { PGPASSWORD: password }
    const url = databaseUrl({ ...database(), host, port })
    const verified = await runTidegate(['audit', 'verify', '--store', url], { env })
    expect(verified).toMatchObject({ exitCode: 0 })
    expect(verified.stdout).toContain('intact')
    const both = databaseUrl({ ...database(), port: 1, otherHosts: [{ host, port }] })
    expect(await runTidegate(['audit', 'verify', '--store', both], { env })).toMatchObject({ exitCode: 0 })
    const migrated = await runTidegate(['store', 'migrate', '--store', both], { env })
    expect(migrated.exitCode).toBe(2)
    expect(migrated.stderr).toContain(`127.0.0.1:${port} is a standby`)
  })
})
