import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'

import { killReplicasRepeatedly } from '../support/chaos/replica-rounds.js'
import { ask, objectOf, postJson } from '../support/http-client.js'
import { respondJson, startLoopbackServer } from '../support/loopback-server.js'
import { passedDefinition, passedRegistration, thirtyPoints } from '../support/passed-analysis.js'
import { postgresPrograms } from '../support/postgres/postgres-programs.js'
import { query } from '../support/postgres/postgres-server.js'
import { approve, idOf, statusAt, trigger, useReplicas } from '../support/postgres/replica-services.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { waitUntil } from '../support/wait-until.js'

const { start, database, receiver, callbacksOf } = useReplicas()
const MINUTES = 60_000
/** A replica that was silent for so long has lost its leases. */
const LONGER_THAN_LEASES_MS = 11_000

/** A clock that is so far ahead, in all threads of the process. */
const clockAhead = (ms: number): readonly string[] => [
  '--import',
  `data:text/javascript,${encodeURIComponent(`const now = Date.now; Date.now = () => now() + ${ms}`)}`,
]
const isIntact = async ({ url }: TidegateProcess) =>
  objectOf(await ask(url, { path: '/audit/verify' }))['isIntact']
const triggered = async (at: TidegateProcess, executionId: string): Promise<number> =>
  idOf(await trigger(at, executionId, receiver().url))

describe.skipIf(postgresPrograms() === undefined)(
  'two services of which one is killed again and again',
  () => {
    it(
      'lose nothing that was acknowledged, decide nothing twice, and tell each decision once',
      { timeout: 180_000 },
      async () => {
        const { promised, contested, problems } = await killReplicasRepeatedly({
          rounds: 3,
          callers: 6,
          longestMs: 400,
          seed: 1,
        })
        expect(problems).toEqual([])
        expect(contested).toBeGreaterThan(0)
        expect(promised.events.size).toBeGreaterThan(0)
      },
    )
  },
)

describe.skipIf(postgresPrograms() === undefined)('one of two services', { timeout: 90_000 }, () => {
  it('that stood still for longer than its leases last undoes nothing of what the other did meanwhile', async () => {
    const [one, other] = await Promise.all([start(), start()])
    const id = await triggered(one, 'e1')
    receiver().keepWaiting(true)
    await approve(one, id)
    await waitUntil(
      () => callbacksOf('e1')[0],
      () => `no callback came: ${one.logText()}`,
    )
    process.kill(one.pid, 'SIGSTOP')
    receiver().keepWaiting(false)
    try {
      await sleep(LONGER_THAN_LEASES_MS)
      await waitUntil(
        () => callbacksOf('e1')[1],
        () => `the callback was not taken over: ${other.logText()}`,
      )
      // Others write and lead in the meantime.
      expect(await statusAt(other, await triggered(other, 'e2'))).toBe('activated')
    } finally {
      process.kill(one.pid, 'SIGCONT')
    }
    await waitUntil(
      async () => ((await statusAt(one, id)) === 'approved' ? true : undefined),
      () => `it does not come back: ${one.logText()}`,
    )
    const second = await triggered(one, 'e3')
    await approve(one, second)
    await waitUntil(
      () => callbacksOf('e3')[0],
      () => `it does not send any more: ${one.logText()}`,
    )
    expect(new Set(callbacksOf('e1').map(({ webhookId }) => webhookId)).size).toBe(1)
    const messages = await query<{ state: string; count: number }>(
      database(),
      'select state, count(*)::int4 as count from outbox group by state',
    )
    await waitUntil(
      async () => {
        const [left] = await query<{ count: number }>(
          database(),
          "select count(*)::int4 as count from outbox where state <> 'delivered'",
        )
        return left?.count === 0 ? true : undefined
      },
      () => `messages were not delivered: ${JSON.stringify(messages)}`,
    )
    expect(await isIntact(other)).toBe(true)
  })

  it('that is killed while it judges leaves the analysis to the other, which ends it with that one interval', async () => {
    let isUnresponsive = true
    const source = await startLoopbackServer((_, response) => {
      if (!isUnresponsive) respondJson(response, 200, thirtyPoints())
    })
    const config = { analysis: { sources: [{ name: 'prom', type: 'prometheus', url: source.origin }] } }
    const [one, other] = await Promise.all([start({ config }), start({ config })])
    const defined = await ask(one.url, {
      method: 'PUT',
      path: '/analysis/applications/shop',
      headers: { 'content-type': 'application/json' },
      body: passedDefinition('prom'),
    })
    expect(defined.status).toBe(200)
    const registered = await postJson(one.url, '/autopilot/api/v5/registerCanary', passedRegistration('shop'))
    const path = `/analysis/${String(objectOf(registered)['canaryId'])}`
    await waitUntil(
      () => source.seen[0],
      () => `it is not judged: ${one.logText()}`,
    )
    await one.end('SIGKILL')
    isUnresponsive = false
    const run = await waitUntil(
      async () => {
        const seen = objectOf(await ask(other.url, { path }))
        return seen['state'] === 'COMPLETED' ? seen : undefined
      },
      () => `it was not taken over: ${other.logText()}`,
    )
    expect(run).toMatchObject({ intervalsDone: 1, intervals: [{ interval: 1 }] })
    expect(await isIntact(other)).toBe(true)
    await source.close()
  })

  it('whose clock is five minutes ahead of the database, and one whose clock is behind, act as one', async () => {
    const [ahead, behind] = await Promise.all([
      start({ nodeArgs: clockAhead(5 * MINUTES) }),
      start({ nodeArgs: clockAhead(-5 * MINUTES) }),
    ])
    for (const [one, other, executionId] of [
      [ahead, behind, 'e4'],
      [behind, ahead, 'e5'],
    ] as const) {
      const id = await triggered(one, executionId)
      expect(await statusAt(other, id)).toBe('activated')
      await approve(other, id)
      expect(await statusAt(one, id)).toBe('approved')
      await waitUntil(
        () => callbacksOf(executionId)[0],
        () => `no callback came: ${one.logText()} ${other.logText()}`,
      )
      expect(callbacksOf(executionId)).toHaveLength(1)
    }
    const [lives] = await query<{ shortest: number; longest: number }>(
      database(),
      'select min(expires_ms - created_ms)::float8 as shortest, max(abs(created_ms - extract(epoch from now()) * 1000))::float8 as longest from gate_instances',
    )
    expect(lives?.shortest).toBe(60 * MINUTES)
    expect(lives?.longest).toBeLessThan(2 * MINUTES)
    const health = JSON.stringify(objectOf(await ask(behind.url, { path: '/health?plugins' })))
    expect(health).toMatch(/clock is (?:299|300|301) s behind/)
    expect(await isIntact(ahead)).toBe(true)
  })
})
