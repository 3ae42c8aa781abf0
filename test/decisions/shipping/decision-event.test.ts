import { expect, test } from 'vitest'

import { decisionEvent } from '../../../src/decisions/shipping/decision-event.js'
import type { DecisionEntry } from '../../../src/decisions/decision-log.js'
import type { KeepOptions } from '../../../src/decisions/keep-decisions.js'
import { aBatch, anEntry, openStore } from '../../support/decisions.js'

/** The event of a decision that was stored with options. */
async function eventOf(entry: Partial<DecisionEntry>, options: Partial<KeepOptions> = {}) {
  const { writer, reader } = await openStore(options)
  writer.insert(aBatch([anEntry(entry)]))
  const stored = await reader.get('d-1')
  if (stored === undefined) throw new Error('the decision is not stored')
  const text = decisionEvent(stored, { id: 'node-1', version: '0.1.0' })
  return { text, event: JSON.parse(text) as Record<string, unknown> }
}

test('an event has the members of OPA, and the rest under custom', async () => {
  const { event } = await eventOf({
    path: 'app/rules/allow',
    input: Buffer.from('{"user":"ana"}'),
    result: Buffer.from('true'),
    ndBuiltinCache: Buffer.from('{"time.now_ns":{"[]":1}}'),
    caller: 'spinnaker',
    requestId: 'r-7',
    application: 'shop',
  })
  expect(event).toEqual({
    labels: { id: 'node-1', version: '0.1.0' },
    decision_id: 'd-1',
    revision: 'r1',
    path: 'app/rules/allow',
    input: { user: 'ana' },
    result: true,
    nd_builtin_cache: { 'time.now_ns': { '[]': 1 } },
    requested_by: 'spinnaker',
    timestamp: '2023-11-14T22:13:20.000Z',
    metrics: { timer_server_handler_ns: 1500 },
    custom: { kind: 'data', outcome: 'allow', application: 'shop', request_id: 'r-7', input_bytes: 14 },
  })
})

test('numbers keep all their digits', async () => {
  const { text } = await eventOf({ result: Buffer.from('12345678901234567890.10') })
  expect(text).toContain('"result":12345678901234567890.10,')
})

test('an error is an object with a code', async () => {
  const { event } = await eventOf({ outcome: 'error', error: 'division by zero' })
  expect(event['error']).toEqual({ code: 'internal_error', message: 'division by zero' })
  expect(event).not.toHaveProperty('result')
})

test('the paths of masked and redacted values are listed', async () => {
  const input = Buffer.from('{"card":"4111","a/b":[{"password":"hunter2hunter2"}],"open":"text"}')
  const { event } = await eventOf({ input }, { masks: ['/card'] })
  expect(event['masked']).toEqual(['/input/card', '/input/a~1b/0/password'])
  expect(JSON.stringify(event)).not.toMatch(/4111|hunter2/)
})

test('an input that cannot be masked is erased, and so are the values that may quote it', async () => {
  const { event, text } = await eventOf(
    {
      input: Buffer.from('{"card":"4111"} trailing 4111'),
      result: Buffer.from('"card 4111 is refused"'),
      error: 'card 4111 is refused',
    },
    { masks: ['/card'] },
  )
  expect(event['erased']).toContain('/input')
  expect(event).not.toHaveProperty('input')
  expect(text).not.toContain('4111')
})

test('an input that was cut is erased and its start is under custom', async () => {
  const { event } = await eventOf({ input: Buffer.from('{"text":"abcdefgh"}') }, { maxInputBytes: 10 })
  expect(event['erased']).toEqual(['/input'])
  expect(event['custom']).toMatchObject({ input_prefix: '{"text":"a', input_bytes: 19 })
})
