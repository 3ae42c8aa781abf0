import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ask, objectOf, postJson } from '../support/http-client.js'
import { startTidegate } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { makeWorkspace } from '../support/workspace.js'

const workspace = makeWorkspace({ 'policies/app.rego': 'package app\n\nallow := true\n' })
const TOMORROW = new Date(Date.now() + 86_400_000).toISOString()
let tidegate: TidegateProcess

beforeAll(async () => {
  tidegate = await startTidegate({
    workspace,
    config: {
      auth: {
        tokens: [
          ...[token('orca', 'orchestrator'), token('eve', 'auditor'), token('root', 'admin')],
          ...[token('ana', 'approver', 'sre'), token('bo', 'approver', 'qa'), token('cy', 'approver')],
        ],
      },
      callbacks: { allowLoopback: true },
      gates: {
        definitions: [
          { id: 1, name: 'Both', application: 'shop', approvers: { groups: ['sre', 'qa'] }, eachGroup: true },
          { id: 2, name: 'Others', application: 'shop', committersMayApprove: false },
        ],
      },
    },
  })
})
afterAll(async () => {
  await tidegate.end('SIGTERM')
  workspace.remove()
})

function token(name: string, role: string, ...groups: readonly string[]) {
  const sha256 = createHash('sha256').update(`token-of-${name}`).digest('hex')
  return { name, roles: [role], groups, sha256 }
}
const as = (name: string) => ({ authorization: `Bearer token-of-${name}` })

async function trigger(gate: number, executionId: string): Promise<number> {
  const body = {
    ...{ approvalCallbackURL: 'http://127.0.0.1:9/yes', rejectionCallbackURL: 'http://127.0.0.1:9/no' },
    ...{ executionId, toolConnectorParameters: '', imageIds: 'shop:1', connectorType: 'JIRA' },
  }
  return Number(
    objectOf(await postJson(tidegate.url, `/approvalGates/${gate}/trigger`, body, as('orca')))['id'],
  )
}
async function review(id: number, name: string, action = 'approve') {
  const body = JSON.stringify({ action, comment: '' })
  const headers = { 'content-type': 'application/json', ...as(name) }
  const path = `/approvalGateInstances/${id}/review`
  return objectOf(await ask(tidegate.url, { method: 'PUT', path, body, headers }))
}
const details = async (id: number) =>
  objectOf(await ask(tidegate.url, { path: `/approvalGateInstances/${id}`, headers: as('eve') }))
const page = async (id: number) =>
  (await ask(tidegate.url, { path: `/ui/approvals/${id}`, headers: as('eve') })).text

describe('a gate with an approver of each group', () => {
  test('shows on its page and in the API what is still needed', async () => {
    const id = await trigger(1, 'run-1')
    expect(await review(id, 'ana')).toMatchObject({ status: 'activated', approvals: 1, approvalsNeeded: 2 })
    expect(await details(id)).toMatchObject({ rules: { eachGroup: true, missingGroups: ['qa'] } })
    expect(await page(id)).toContain('still needed: group qa')
    expect(await review(id, 'bo')).toMatchObject({ status: 'approved', approvals: 2 })
  })
})

describe('a gate that refuses committers', () => {
  test('refuses approvals while they are unknown, and says so', async () => {
    const id = await trigger(2, 'run-2')
    expect(await review(id, 'ana')).toMatchObject({ code: 'unknown_committers' })
    expect(await page(id)).toContain('unknown here, so nobody can approve')
    expect(await review(id, 'ana', 'reject')).toMatchObject({ status: 'rejected' })
  })
})

describe('a delegation', () => {
  const give = (name: string, to: string, until = TOMORROW) =>
    postJson(tidegate.url, '/delegations', { to, until, reason: 'holiday' }, as(name))
  const revoke = (id: unknown, name: string) =>
    ask(tidegate.url, { method: 'DELETE', path: `/delegations/${String(id)}`, headers: as(name) })

  test('lets another person decide until it is revoked, and is in the trail', async () => {
    const first = await trigger(1, 'run-3')
    expect(await review(first, 'cy')).toMatchObject({ code: 'not_an_approver' })
    const given = objectOf(await give('ana', 'cy'))
    expect(given).toMatchObject({ from: 'ana', to: 'cy', reason: 'holiday', until: TOMORROW })
    expect(await review(first, 'cy')).toMatchObject({ status: 'activated', approvals: 1 })
    expect(await details(first)).toMatchObject({
      reviews: [{ person: 'cy', onBehalfOf: 'ana', groups: ['sre'] }],
    })
    expect(await page(first)).toContain('cy for ana')
    expect(await review(first, 'ana')).toMatchObject({ code: 'resource_conflict' })

    expect((await revoke(given['id'], 'bo')).status).toBe(403)
    expect((await revoke(given['id'], 'cy')).status).toBe(200)
    expect((await revoke(given['id'], 'cy')).status).toBe(404)
    const second = await trigger(1, 'run-4')
    expect(await review(second, 'cy')).toMatchObject({ code: 'not_an_approver' })
    for (const kind of ['gate.delegated', 'gate.delegation_revoked']) {
      const { text } = await ask(tidegate.url, { path: `/audit?kind=${kind}`, headers: as('eve') })
      expect(text).toContain(kind)
    }
  })

  test('is not given on', async () => {
    const one = objectOf(await give('ana', 'bo'))
    const other = objectOf(await give('bo', 'cy'))
    const id = await trigger(1, 'run-5')
    expect(await review(id, 'cy')).toMatchObject({ status: 'activated', approvals: 1 })
    expect(await details(id)).toMatchObject({ reviews: [{ person: 'cy', onBehalfOf: 'bo' }] })
    expect(await details(id)).toMatchObject({ rules: { missingGroups: ['sre'] } })
    for (const each of [one, other]) expect((await revoke(each['id'], 'root')).status).toBe(200)
  })

  test.each([
    ['to oneself', 'ana', TOMORROW],
    ['that ends in the past', 'bo', '2020-01-01'],
    ['that ends too late', 'bo', '2999-01-01'],
    ['without an end', 'bo', 'soon'],
  ])('%s is refused', async (_, to, until) => {
    expect((await give('ana', to, until)).status).toBe(400)
  })

  test('is not for people without the role', async () => {
    expect((await give('eve', 'bo')).status).toBe(403)
  })
})
