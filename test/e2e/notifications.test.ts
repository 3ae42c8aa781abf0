import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startReceiver } from '../support/callback-receiver.js'
import type { CallbackReceiver } from '../support/callback-receiver.js'
import { ask, objectOf, postJson } from '../support/http-client.js'
import { smtpReply, startMailServer } from '../support/mail-server.js'
import type { MailReceiver } from '../support/mail-server.js'
import { startTidegate } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { waitUntil } from '../support/wait-until.js'
import { makeWorkspace } from '../support/workspace.js'

const workspace = makeWorkspace()
let chat: CallbackReceiver
let mail: MailReceiver
let tidegate: TidegateProcess

beforeAll(async () => {
  chat = await startReceiver()
  mail = await startMailServer({
    hideSTARTTLS: true,
    onRcptTo: ({ address }, _, callback) =>
      callback(address.startsWith('gone') ? smtpReply(550, 'no such user') : null),
  })
  const mails = {
    type: 'mail',
    host: '127.0.0.1',
    port: mail.port,
    encryption: 'none',
    from: 't@example.org',
  }
  workspace.write({
    'policies/static.rego': 'package static.none\n\nimport rego.v1\n\ndeny contains "bad" if input.bad\n',
    hook: `${chat.url}/services/T01/secret-of-the-chat\n`,
  })
  const hook = { file: `${workspace.path}/hook` }
  tidegate = await startTidegate({
    workspace,
    config: {
      server: { publicUrl: 'https://tidegate.example.org' },
      auth: { tokens: ['orchestrator', 'approver', 'auditor', 'admin'].map(token) },
      callbacks: { allowLoopback: true },
      gates: { definitions: [{ id: 1, name: 'Production', application: 'shop' }] },
      notifications: {
        channels: [
          { name: 'ops', type: 'slack', url: hook },
          { name: 'mails', ...mails, to: ['ana@example.org'] },
          { name: 'lost', ...mails, to: ['gone@example.org'] },
        ],
        rules: [
          { channel: 'ops', events: ['gate.decided', 'policy.denied'] },
          { channel: 'mails', events: ['gate.activated'], template: '{gate} waits: {link}' },
          { channel: 'lost', events: ['gate.activated'] },
        ],
        denialSeconds: 1,
      },
    },
  })
})
afterAll(async () => {
  await tidegate.end('SIGTERM')
  await Promise.all([chat.close(), mail.close()])
  workspace.remove()
})

function token(role: string) {
  return { name: role, roles: [role], sha256: createHash('sha256').update(`token-of-${role}`).digest('hex') }
}

function as(role: string): Record<string, string> {
  return { authorization: `Bearer token-of-${role}` }
}

async function trigger(executionId: string): Promise<number> {
  const body = {
    ...{ approvalCallbackURL: `${chat.url}/yes`, rejectionCallbackURL: `${chat.url}/no`, executionId },
    ...{ toolConnectorParameters: '', imageIds: 'shop:1', connectorType: 'JIRA' },
  }
  return Number(
    objectOf(await postJson(tidegate.url, '/approvalGates/1/trigger', body, as('orchestrator')))['id'],
  )
}

describe('a gate that waits', () => {
  test('is announced by mail with a link to its page, and its decision in the chat', async () => {
    const id = await trigger('run-1')
    const [first] = await waitUntil(
      () => (mail.received.length > 0 ? mail.received : undefined),
      () => `no mail: ${tidegate.logText()}`,
    )
    expect(first?.source).toContain(
      `Subject: Production waits: https://tidegate.example.org/ui/approvals/${id}`,
    )
    const path = `/approvalGateInstances/${id}/review`
    const body = JSON.stringify({ action: 'approve', comment: 'fine <!channel>' })
    const headers = { 'content-type': 'application/json', ...as('approver') }
    expect((await ask(tidegate.url, { method: 'PUT', path, body, headers })).status).toBe(200)
    const message = await waitUntil(
      () => chat.received.find(({ path }) => path.startsWith('/services')),
      () => `no message: ${tidegate.logText()}`,
    )
    expect(message.body).toMatchObject({ text: 'Production of shop was approved' })
    expect(message.text).not.toContain('<!channel>')
  })

  test('whose mail is refused is listed as given up, and can be sent again', async () => {
    const found = await waitUntil(
      async () => {
        const { text } = await ask(tidegate.url, { path: '/outbox?state=given_up', headers: as('auditor') })
        const { messages } = JSON.parse(text) as {
          messages: { id: number; url: string; lastError: string }[]
        }
        return messages.find(({ url }) => url === 'notification:lost')
      },
      () => 'the mail is not given up',
    )
    expect(found.lastError).toContain('no such user')
    const page = await ask(tidegate.url, { path: '/ui/operations?state=given_up', headers: as('admin') })
    expect(page.text).toContain('notification:lost')
    const again = await postJson(tidegate.url, `/outbox/${found.id}/resend`, {}, as('admin'))
    expect(objectOf(again)).toMatchObject({ state: 'pending' })
  })
})

test('a storm of denials is one message with a count', async () => {
  const before = chat.received.length
  const body = { input: { bad: true, application: 'shop', executionId: 'run-9' } }
  const deny = () => postJson(tidegate.url, '/v1/data/static/none', body, as('orchestrator'))
  const answers = await Promise.all(Array.from({ length: 20 }, deny))
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200))
  const evaluated = { input: { new: { bad: true, application: 'shop' }, bad: true } }
  for (let nth = 0; nth < 20; nth++)
    await postJson(tidegate.url, '/v1/staticPolicy/eval', evaluated, as('orchestrator'))
  const message = await waitUntil(
    () => chat.received.slice(before).find(({ text }) => text.includes('denial')),
    () => `no message about denials: ${tidegate.logText()}`,
  )
  expect(String(message.body['text'])).toMatch(/^(?:1\d|20) denials in shop$/)
})

describe('channels', () => {
  test('are listed with their events and without their URLs', async () => {
    const { text } = await ask(tidegate.url, { path: '/notifications', headers: as('auditor') })
    expect(JSON.parse(text)).toMatchObject({
      channels: [
        { name: 'ops', type: 'slack', events: ['gate.decided', 'policy.denied'] },
        { name: 'mails' },
        { name: 'lost' },
      ],
    })
    expect(text).not.toContain('secret-of-the-chat')
  })

  test('can be tried, and a failure is reported', async () => {
    const path = (channel: string) => `/notifications/${channel}/test`
    expect(objectOf(await postJson(tidegate.url, path('ops'), {}, as('admin')))).toEqual({
      ...{ channel: 'ops', delivered: 1, problems: [] },
    })
    const lost = objectOf(await postJson(tidegate.url, path('lost'), {}, as('admin')))
    expect(lost).toMatchObject({ delivered: 0, problems: [expect.stringContaining('no such user')] })
    expect((await postJson(tidegate.url, path('other'), {}, as('admin'))).status).toBe(404)
    expect((await postJson(tidegate.url, path('ops'), {}, as('approver'))).status).toBe(403)
  })
})

test('neither the log, the outbox nor the trail contains the URL of a chat', async () => {
  for (const path of ['/outbox', '/audit?kind=notification.delivered'])
    expect((await ask(tidegate.url, { path, headers: as('auditor') })).text).not.toContain(
      'secret-of-the-chat',
    )
  expect(tidegate.logText()).not.toContain('secret-of-the-chat')
})
