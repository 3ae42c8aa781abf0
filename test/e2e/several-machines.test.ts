import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

import { ask, objectOf, postJson } from '../support/http-client.js'
import { cookieIn, formTokenIn, makeRequests, token } from '../support/page-service.js'
import { query } from '../support/postgres/postgres-server.js'
import { postgresPrograms } from '../support/postgres/postgres-programs.js'
import {
  approve,
  DECISION,
  GATE,
  idOf,
  POLICY,
  statusAt,
  trigger as triggerAt,
  useReplicas,
} from '../support/postgres/replica-services.js'
import { runTidegate } from '../support/run-tidegate.js'
import { startTidegate } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { waitUntil } from '../support/wait-until.js'
import { makeWorkspace } from '../support/workspace.js'

const { start: startReplica, database, server, receiver, callbacksOf } = useReplicas()
const trigger = (at: TidegateProcess, executionId: string) => triggerAt(at, executionId, receiver().url)

// A lease ends by itself after fifteen seconds at the latest, and machines that test are slow.
describe.skipIf(postgresPrograms() === undefined)(
  'two services over one PostgreSQL',
  { timeout: 90_000 },
  () => {
    it('answer for each other, send each request once, and keep one provable trail', async () => {
      const [one, other] = await Promise.all([startReplica(), startReplica()])
      const id = idOf(await trigger(one, 'e1'))
      expect(await statusAt(other, id)).toBe('activated')
      // A hundred equal requests to both simultaneously.
      const answers = await Promise.all(
        Array.from({ length: 100 }, (_, index) => trigger(index % 2 === 0 ? one : other, 'e2')),
      )
      expect(new Set(answers.map(idOf)).size).toBe(1)
      const second = idOf(answers[0] ?? (await trigger(one, 'e2')))
      await approve(other, second)
      expect(await statusAt(one, second)).toBe('approved')
      await waitUntil(
        () => callbacksOf('e2')[0],
        () => `no callback came: ${one.logText()} ${other.logText()}`,
      )
      const event = {
        details: { type: 'orca:pipeline:complete', created: '1', application: 'shop' },
        eventId: 'once',
      }
      const taken = await Promise.all([
        postJson(one.url, '/platform/echo', { ...event, name: 'x' }),
        postJson(other.url, '/platform/echo', { ...event, name: 'x' }),
      ])
      expect(taken.map(({ status }) => status)).toEqual([200, 200])
      const kept = await query<{ count: string }>(
        database(),
        "select count(*) from audit where event_id = 'once'",
      )
      expect(Number(kept[0]?.count)).toBe(1)
      expect(callbacksOf('e2')).toHaveLength(1)
      const verified = objectOf(await ask(other.url, { path: '/audit/verify' }))
      expect(verified).toMatchObject({ isIntact: true, problems: [] })
      const { host, port, user, database: name, password = '' } = database()
      const url = `postgres://${user}@${host}:${port}/${name}`
      const { exitCode, stdout } = await runTidegate(['audit', 'verify', '--store', url], {
        env: { PGPASSWORD: password },
      })
      expect(stdout).toContain('intact')
      expect(exitCode).toBe(0)
      const text = one.logText() + other.logText()
      expect(text).not.toContain(password)
    })

    it('accept sessions of the other one, until a sign-out at either', async () => {
      const config = { auth: { openToOrchestrator: true, tokens: [token('bo', ['approver'])] } }
      const [one, other] = await Promise.all([startReplica({ config }), startReplica({ config })])
      const [atOne, atOther] = [makeRequests(() => one.url), makeRequests(() => other.url)]
      // Load balancers keep the host name that the browser used.
      const host = 'localhost'
      const id = idOf(await trigger(one, 'e1'))
      const form = await atOne.page('/ui/sign-in', { host })
      const fields = { formToken: formTokenIn(form), token: 'token-of-bo', next: '/ui' }
      const signedIn = await atOther.post('/ui/sign-in', fields, { host, cookie: cookieIn(form) })
      expect(signedIn.status).toBe(303)
      const cookie = cookieIn(signedIn)
      const shown = await atOne.page(`/ui/approvals/${id}`, { host, cookie })
      expect(shown.status).toBe(200)
      expect((await atOne.page('/ui', { host: '127.0.0.1', cookie })).status).toBe(401)
      const formToken = formTokenIn(shown)
      const decided = { formToken, action: 'approve', comment: 'fine' }
      const path = `/ui/approvals/${id}`
      expect((await atOther.post(path, { ...decided, formToken: 'x' }, { host, cookie })).status).toBe(403)
      expect((await atOther.post(path, decided, { host, cookie })).status).toBe(303)
      expect(await statusAt(one, id)).toBe('approved')
      expect((await atOther.post('/ui/sign-out', { formToken }, { host, cookie })).status).toBe(303)
      expect((await atOne.page('/ui', { host, cookie })).status).toBe(401)
    })

    it('immediately know definitions of the other one', async () => {
      const [one, other] = await Promise.all([startReplica(), startReplica()])
      const made = await postJson(one.url, '/approvalGates', { name: 'Canary', application: 'shop' })
      const gate = `/approvalGates/${String(objectOf(made)['id'])}`
      expect(objectOf(await ask(other.url, { path: gate }))['name']).toBe('Canary')
      const headers = { 'content-type': 'application/json' }
      const put = ({ url }: TidegateProcess, path: string, value: unknown) =>
        ask(url, { method: 'PUT', path, headers, body: JSON.stringify(value) })
      expect((await put(other, gate, { name: 'Renamed', application: 'shop' })).status).toBe(200)
      expect(objectOf(await ask(one.url, { path: gate }))['name']).toBe('Renamed')
      const text = JSON.stringify({
        templateName: 'log',
        errorTopics: [{ string: 'boom', topic: 'critical' }],
      })
      const template = '/autopilot/api/v5/external/template?templateType=LOG&templateName=log'
      const kept = await ask(one.url, { path: template, headers, body: text })
      expect(objectOf(kept)['status']).toBe('CREATED')
      expect((await ask(other.url, { path: template })).text.trim()).toBe('true')
    })

    it('go on with the records that one service had in its files, without a break in the trail', async () => {
      const workspace = makeWorkspace({ 'policies/app.rego': POLICY })
      const config = { callbacks: { allowLoopback: true }, gates: { definitions: [GATE] } }
      const alone = await startTidegate({ workspace, config })
      const id = idOf(await trigger(alone, 'e6'))
      const links = objectOf(await ask(alone.url, { path: '/audit/verify' }))['end']
      await alone.end('SIGTERM')
      const { host, port, user, database: name, password = '' } = database()
      const args = [
        '--from',
        join(workspace.path, 'data'),
        '--to',
        `postgres://${user}@${host}:${port}/${name}`,
      ]
      const env = { PGPASSWORD: password }
      const copied = await runTidegate(['store', 'copy', ...args], { env })
      expect(copied).toMatchObject({ exitCode: 0, stderr: '' })
      expect(copied.stdout).toContain('the trail is intact and identical')
      const twice = await runTidegate(['store', 'copy', ...args], { env })
      expect(twice.exitCode).not.toBe(0)
      expect(twice.stderr).toContain('copy into an empty one')
      const one = await startReplica()
      expect(await statusAt(one, id)).toBe('activated')
      expect(idOf(await trigger(one, 'e6'))).toBe(id)
      expect(idOf(await trigger(one, 'e7'))).toBe(id + 1)
      const { hash, seq } = links as { readonly hash: string; readonly seq: number }
      const path = `/audit/verify?expected=${seq}:${hash}`
      expect(objectOf(await ask(one.url, { path }))).toMatchObject({ isIntact: true })
      workspace.remove()
    })

    it('take over the callback of one that was killed, under its id', async () => {
      const [one, other] = await Promise.all([startReplica(), startReplica()])
      const id = idOf(await trigger(one, 'e3'))
      receiver().keepWaiting(true)
      await approve(one, id)
      const first = await waitUntil(
        () => callbacksOf('e3')[0],
        () => `no callback came: ${one.logText()}`,
      )
      await one.end('SIGKILL')
      receiver().keepWaiting(false)
      const second = await waitUntil(
        () => callbacksOf('e3')[1],
        () => `the callback was not taken over: ${other.logText()}`,
      )
      expect(second.webhookId).toBe(first.webhookId)
      expect(await statusAt(other, id)).toBe('approved')
      expect(objectOf(await ask(other.url, { path: '/audit/verify' }))).toMatchObject({ isIntact: true })
    })

    it('answer with the decisions of both, and lose none while the database is away', async () => {
      const [one, other] = await Promise.all([startReplica({ name: 'one' }), startReplica({ name: 'other' })])
      const decide = async ({ url }: TidegateProcess): Promise<string> => {
        const { decision_id: id } = objectOf(await postJson(url, '/v1/data/app/allow', DECISION))
        return String(id)
      }
      const listAt = async ({ url }: TidegateProcess, query = '') => {
        const answer = await ask(url, { path: `/decisions${query}` })
        const { decisions = [] } = objectOf(answer) as {
          decisions?: readonly { readonly decisionId: string; readonly replica?: string }[]
        }
        return {
          answer,
          replicas: new Map(decisions.map(({ decisionId, replica }) => [decisionId, replica])),
        }
      }
      const ids = [await decide(one), await decide(other)]
      const everywhere = async (at: TidegateProcess): Promise<true | undefined> => {
        const { replicas } = await listAt(at)
        return ids.every((id) => replicas.has(id)) || undefined
      }
      for (const at of [one, other]) {
        await waitUntil(
          () => everywhere(at),
          () => `decisions are missing: ${at.logText()}`,
        )
      }
      expect((await listAt(one)).replicas.get(ids[1] ?? '')).toBe('other')
      expect(objectOf(await ask(other.url, { path: `/decisions/${ids[0] ?? ''}` }))['replica']).toBe('one')
      expect([...(await listAt(one, '?own=true')).replicas.keys()]).toEqual([ids[0]])
      await server().restart(async () => {
        ids.push(await decide(one), await decide(other))
        const away = await listAt(one)
        expect(away.answer.status).toBe(503)
        expect(away.answer.headers['retry-after']).toBeDefined()
        expect(objectOf(away.answer)['message']).toContain('own=true')
        expect([...(await listAt(one, '?own=true')).replicas.keys()]).toEqual([ids[2], ids[0]])
        await waitUntil(
          () => one.logText().includes('decisions are not shipped and stay in the local file') || undefined,
          () => `nothing is said of it: ${one.logText()}`,
        )
        const health = JSON.stringify(objectOf(await ask(one.url, { path: '/health?plugins' })))
        expect(health).toContain('not yet in the shared log: 1 (ship')
      })
      // The last decisions of one service are present although it ends immediately.
      await waitUntil(
        () => everywhere(other).catch(() => undefined),
        () => `decisions are missing: ${other.logText()}`,
      )
      ids.push(await decide(one))
      expect(await one.end('SIGTERM')).toBe(0)
      expect((await listAt(other)).replicas.get(ids.at(-1) ?? '')).toBe('one')
    })

    it('decide without the database, refuse requests that need it, and recover with it', async () => {
      const [one] = await Promise.all([startReplica(), startReplica()])
      const id = idOf(await trigger(one, 'e4'))
      await server().restart(async () => {
        const decided = await postJson(one.url, '/v1/data/app/allow', DECISION)
        expect(objectOf(decided)).toMatchObject({ result: true })
        const refused = await trigger(one, 'e5')
        expect(refused.status).toBe(503)
        expect(refused.headers['retry-after']).toBeDefined()
        const event = await postJson(one.url, '/platform/echo', { eventId: 'e', name: 'x' })
        expect(event.status).toBe(503)
        const plugin = await ask(one.url, {
          path: `/visibilityservice/v1/approvalGateInstances/${id}/status`,
        })
        expect(objectOf(plugin)['status']).toBe('activated')
        const health = await ask(one.url, { path: '/health?plugins' })
        expect(JSON.stringify(objectOf(health))).toContain('PostgreSQL cannot be reached')
      })
      await waitUntil(
        async () => ((await trigger(one, 'e5')).status === 200 ? true : undefined),
        () => `it does not come back: ${one.logText()}`,
      )
      expect(await statusAt(one, id)).toBe('activated')
      expect(objectOf(await ask(one.url, { path: '/audit/verify' }))).toMatchObject({ isIntact: true })
    })
  },
)
