import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { ask, objectOf, postJson } from '../support/http-client.js'
import type { Answered } from '../support/http-client.js'
import { postgresPrograms } from '../support/postgres/postgres-programs.js'
import { query } from '../support/postgres/postgres-server.js'
import { DECISION, idOf, statusAt, trigger, useReplicas } from '../support/postgres/replica-services.js'
import { startStandby } from '../support/postgres/standby-server.js'
import type { StandbyServer } from '../support/postgres/standby-server.js'
import { startTcpProxy } from '../support/postgres/tcp-proxy.js'
import type { TcpProxy } from '../support/postgres/tcp-proxy.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { waitUntil } from '../support/wait-until.js'

/** `store.connections` and the six more that the documentation names. */
const MAX_CONNECTIONS = 14
/**
 * A few seconds, on a machine with time for it; 18 where each part that is closed waits for itself.
 */
const MAX_STOP_MS = 12_000
const { start, server, database, receiver } = useReplicas()
let proxy: TcpProxy
let standby: StandbyServer | undefined

/** A hung server accepts connections but does not answer, which the disconnected proxy imitates. */
describe.skipIf(postgresPrograms() === undefined)(
  'a database that takes connections and gives no answer',
  { timeout: 120_000 },
  () => {
    beforeEach(async () => {
      proxy = await startTcpProxy(server().settings.port)
    })
    afterEach(async () => {
      await proxy.close()
      await standby?.remove()
      standby = undefined
    })

    it('delays no decision, and nothing else for more than seconds; everything recovers when it answers again', async () => {
      const one = await start({ database: { port: proxy.port } })
      const id = idOf(await trigger(one, 'e1', receiver().url))
      const reads = ['/audit?limit=5', '/audit/verify', '/approvalGateInstances', '/decisions?limit=5']
      for (const path of reads) expect(await ask(one.url, { path })).toMatchObject({ status: 200 })
      proxy.cut(true)
      // Each fails if it gets no answer for long. The second time nothing is running any more.
      for (const time of [1, 2]) {
        const answers = await Promise.all([
          trigger(one, `refused-${time}`, receiver().url),
          postEvent(one, `refused-${time}`),
          ask(one.url, { path: `/approvalGateInstances/${id}` }),
          ...reads.map((path) => ask(one.url, { path })),
        ])
        for (const { status, headers } of answers) {
          expect(status).toBe(503)
          expect(headers['retry-after']).toBe('1')
        }
        expect(await postJson(one.url, '/v1/data/app/allow', DECISION)).toMatchObject({ status: 200 })
        const health = await ask(one.url, { path: '/health?plugins' })
        expect(health.status).toBe(500)
        expect(health.text).toContain('PostgreSQL cannot be reached')
      }
      proxy.cut(false)
      await untilTriggered(one, 'after')
      expect(await statusAt(one, id)).toBe('activated')
      expect(await postEvent(one, 'refused-1')).toMatchObject({ status: 200 })
      expect(objectOf(await ask(one.url, { path: '/audit/verify' }))).toMatchObject({ isIntact: true })
      await waitUntil(
        async () => (await ask(one.url, { path: '/health' })).status === 200 || undefined,
        () => 'health stays red',
      )
      await waitUntil(
        async () => (await countConnections()) <= MAX_CONNECTIONS || undefined,
        () => 'connections are left behind',
      )
      proxy.cut(true)
      expect(await one.end('SIGTERM')).toBe(0)
    })

    it.each([
      ['alone', false],
      ['beside a standby that answers', true],
    ])(
      'holds up no stop for more than seconds, %s, and keeps what was acknowledged',
      async (_, hasStandby) => {
        if (hasStandby) standby = await startStandby(server())
        const otherHosts = standby === undefined ? [] : [standby.settings]
        const one = await start({ database: { port: proxy.port, otherHosts } })
        const id = idOf(await trigger(one, 'kept', receiver().url))
        proxy.cut(true)
        expect((await trigger(one, 'refused', receiver().url)).status).toBe(503)
        const stoppedAt = performance.now()
        expect(await one.end('SIGTERM')).toBe(0)
        expect(performance.now() - stoppedAt).toBeLessThan(MAX_STOP_MS)
        proxy.cut(false)
        const two = await start({ database: { port: proxy.port } })
        expect(await statusAt(two, id)).toBe('activated')
      },
    )

    it('is left for its standby once that is promoted, and not gone back to when it answers again', async () => {
      standby = await startStandby(server())
      await standby.makeSynchronous()
      const { host, port } = standby.settings
      const one = await start({ database: { port: proxy.port, otherHosts: [{ host, port }] } })
      const waiting = idOf(await trigger(one, 'e1', receiver().url))
      proxy.cut(true)
      expect((await trigger(one, 'e2', receiver().url)).status).toBe(503)
      await standby.promote()
      await untilTriggered(one, 'e2')
      expect(await statusAt(one, waiting)).toBe('activated')
      proxy.cut(false)
      await trigger(one, 'e3', receiver().url)
      const kept = await query<{ execution_id: string }>(
        { ...standby.settings, database: database().database },
        'select execution_id from gate_instances order by id',
      )
      expect(kept.map((row) => row.execution_id)).toEqual(['e1', 'e2', 'e3'])
    })
  },
)

function postEvent({ url }: TidegateProcess, eventId: string): Promise<Answered> {
  const details = { type: 'orca:task:complete', created: '1', application: 'shop' }
  return postJson(url, '/platform/echo', { details, eventId })
}

async function untilTriggered(at: TidegateProcess, executionId: string): Promise<void> {
  await waitUntil(
    async () => (await trigger(at, executionId, receiver().url)).status === 200 || undefined,
    () => `it does not go on: ${at.logText()}`,
  )
}

async function countConnections(): Promise<number> {
  const rows = await query(
    database(),
    'select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  )
  return rows.length
}
