import { expect, test } from 'vitest'

import { instanceDetails } from '../../src/gates/instances/instance-view.js'
import { reviewInstance } from '../../src/gates/reviewing/review-instance.js'
import { NOW_MS, makeGate, trail, triggered } from '../support/gates.js'
import { useServiceStore } from '../support/service-store.js'

const APPROVAL_URL = 'https://receiver.example/yes?run=5&token=s3cret'
const REJECTION_URL = 'https://receiver.example/no?s3cret'
const open = useServiceStore()

/** An instance with secrets in its callback URLs, as far as the store needs it. */
async function triggeredWithSecrets() {
  const store = await open()
  const request = `{"approvalCallbackURL":"${APPROVAL_URL}","big":12345678901234567890,"rejectionCallbackURL":"${REJECTION_URL}"}`
  await triggered(store.writer, makeGate(), {
    approvalCallbackUrl: APPROVAL_URL,
    rejectionCallbackUrl: REJECTION_URL,
    body: request,
  })
  return store
}

test('secrets of callback URLs are in no record of the trail', async () => {
  const store = await triggeredWithSecrets()
  const records = await trail(store)
  expect(JSON.stringify(records)).not.toContain('s3cret')
  expect(records.at(-1)?.body).toMatchObject({
    approvalCallbackUrl: 'https://receiver.example/yes?run=[redacted]&token=[redacted]',
    rejectionCallbackUrl: 'https://receiver.example/no?[redacted]',
  })
})

test('the request is kept without them, and otherwise as it was sent', async () => {
  const { lookups } = await triggeredWithSecrets()
  const { request } = await lookups.gates.findDocuments(1)
  expect(request).toBe(
    '{"approvalCallbackURL":"https://receiver.example/yes?run=[redacted]&token=[redacted]","big":12345678901234567890,"rejectionCallbackURL":"https://receiver.example/no?[redacted]"}',
  )
})

test('the callback goes to the whole URL, of which people see the redacted one', async () => {
  const { writer, lookups } = await triggeredWithSecrets()
  const attempt = { person: 'bo', action: 'approve', comment: '', groups: [], timeMs: NOW_MS } as const
  await writer.run(reviewInstance, { instanceId: 1, attempt, origin: undefined })
  expect(await lookups.outbox.list({ limit: 1 })).toMatchObject([{ url: APPROVAL_URL }])
  const details = await instanceDetails(lookups, 1, NOW_MS, undefined)
  expect(details).toMatchObject({
    callbacks: [{ url: 'https://receiver.example/yes?run=[redacted]&token=[redacted]' }],
  })
  expect(JSON.stringify(details)).not.toContain('s3cret')
})
