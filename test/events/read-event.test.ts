import { describe, expect, it } from 'vitest'

import { AppError } from '../../src/errors/app-error.js'
import type { EventEndpoint } from '../../src/events/orchestrator-event.js'
import { readEvent } from '../../src/events/read-event.js'
import { MAX_NESTING } from '../../src/lib/json/scan/nesting.js'
import { flattened, pipelineEvent, pipelineExecution } from '../support/orchestrator-events.js'

const NOW = 1_800_000_000_000

function read(body: unknown, endpoint: EventEndpoint = 'echo') {
  return readEvent(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)), endpoint, NOW)
}

function refusal(body: string | Uint8Array, endpoint: EventEndpoint = 'echo'): AppError {
  try {
    readEvent(Buffer.from(body), endpoint, NOW)
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
  throw new Error('the body was taken')
}

const EVENT = pipelineEvent()
const COLUMNS = {
  eventId: '0b6c8a52-2f0e-4a0b-8a55-b3a0f3b0b7de',
  kind: 'orca:pipeline:failed',
  occurredAt: 1_718_000_900_000,
  application: 'shop',
  pipeline: 'prod-rollout',
  pipelineConfigId: '7c1e0c5e',
  executionId: '01J0RUN',
  stage: undefined,
  user: 'ana',
  status: 'TERMINAL',
  source: 'orca',
  content: EVENT['content'],
  details: EVENT['details'],
}

describe('an event in any of its forms', () => {
  const forms: readonly (readonly [string, unknown])[] = [
    ['plain', EVENT],
    ['flattened', flattened(EVENT)],
    ['wrapped', { eventName: 'spinnaker_events', payload: EVENT }],
    ['wrapped under other names', { kind: 'x', data: EVENT }],
    ['wrapped under the name of a field of events', { name: 'spinnaker_events', content: EVENT }],
    ['wrapped and flattened', { eventName: 'spinnaker_events', payload: flattened(EVENT) }],
    ['templated', { meta: { version: 1 }, records: [{ value: { event: EVENT } }] }],
    ['wrapped as text', { eventName: 'e', payload: JSON.stringify(EVENT) }],
    ['a text itself', JSON.stringify(JSON.stringify(EVENT))],
  ]
  it.each(forms)('%s, is read alike at both operations', (_, body) => {
    expect(read(body, 'echo')).toMatchObject(COLUMNS)
    expect(read(body, 'audit')).toMatchObject(COLUMNS)
  })

  it('keeps the body as it came', () => {
    const body = '{ "eventId":"e", "name":"n", "big": 12345678901234567890 }'
    expect(read(body).body.toString()).toBe(body)
  })

  it('takes the fields of the contract at the echo operation', () => {
    expect(read({ eventId: 'e-1', name: 'application-created' })).toMatchObject({
      eventId: 'e-1',
      kind: 'application-created',
      occurredAt: NOW,
      content: undefined,
      details: undefined,
    })
  })

  it('takes the fields of the contract at the audit operation, texts that are no JSON included', () => {
    expect(read({ content: 'deployed', details: '{broken' }, 'audit')).toMatchObject({
      eventId: undefined,
      kind: undefined,
      occurredAt: NOW,
      content: 'deployed',
      details: '{broken',
    })
  })

  it('keeps an event whose payload looks like another event', () => {
    const body = { ...EVENT, payload: pipelineEvent(pipelineExecution({ id: 'other' })) }
    expect(read(body).executionId).toBe('01J0RUN')
  })

  it('reads numbers for texts, and bytes that are no UTF-8 as Latin-1', () => {
    expect(read({ eventId: 17, name: 'n' }).eventId).toBe('17')
    const latin1 = Buffer.from('{"eventId":"e","name":"café"}', 'latin1')
    expect(readEvent(latin1, 'echo', NOW).kind).toBe('café')
  })

  it('takes null for members that the RabbitMQ plugin writes as null', () => {
    expect(read({ ...flattened(EVENT), payload: null, rawContent: null })).toMatchObject(COLUMNS)
  })
})

describe('the start of a pipeline by hand', () => {
  const started = (pipelineNameOrId: string, others: object = {}) => ({
    eventId: 'e',
    details: { type: 'manual' },
    content: {
      ...{ application: 'shop', pipelineNameOrId },
      trigger: { type: 'manual', user: 'ana', parameters: {} },
      ...others,
    },
  })

  it('has the pipeline and the user', () => {
    expect(read(started('prod-rollout'))).toMatchObject({
      ...{ kind: 'manual', application: 'shop', pipeline: 'prod-rollout', user: 'ana' },
      pipelineConfigId: undefined,
    })
    expect(read(started('prod-rollout', { trigger: {}, user: 'bo' })).user).toBe('bo')
  })

  it('has the id of the pipeline where that is what was named', () => {
    const pipelineConfigId = '7c1e0c5e-9b0f-4a57-9c0a-2f1f0a7f6d11'
    expect(read(started(pipelineConfigId))).toMatchObject({ pipelineConfigId, pipeline: undefined })
  })
})

describe('the stage of an event', () => {
  const content = { executionId: '01J0RUN', stageId: '01J0S1', name: 'Policy', context: { user: 'bo' } }

  it('is found in the execution', () => {
    const event = { ...EVENT, content: { ...content, execution: pipelineExecution() } }
    expect(read(event)).toMatchObject({
      stage: { stageId: '01J0S1', refId: '1', name: 'Policy', type: 'policy' },
      status: 'TERMINAL',
    })
  })

  it.each([
    ['orca:task:starting', 'RUNNING'],
    ['orca:stage:complete', 'SUCCEEDED'],
    ['orca:stage:failed', 'TERMINAL'],
    ['orca:stage:skipped', 'SKIPPED'],
    ['plugin:constructor', undefined],
  ])('has the status that %s says where the execution was left out', (kind, status) => {
    const event = read({ ...EVENT, details: { type: kind }, content })
    expect(event).toMatchObject({ status, user: 'bo', stage: { name: 'Policy', refId: undefined } })
  })
})

describe('what is refused', () => {
  it.each<readonly [string, EventEndpoint, string]>([
    ['{}', 'echo', 'eventId, name'],
    ['{"name":"n"}', 'echo', 'eventId'],
    ['{"eventId":"e"}', 'echo', 'name'],
    ['{"eventId":"","name":null}', 'echo', 'eventId (a text that is not empty), name'],
    ['{"eventId":{},"name":"n"}', 'echo', 'eventId (a text that is not empty)'],
    ['{"eventId":"e","name":"n"}', 'audit', 'content, details'],
    ['{"details":{"type":"t"}}', 'audit', 'content'],
    ['{"content":"c","details":null}', 'audit', 'details'],
  ])('%s at the %s operation lacks %s', (body, endpoint, names) => {
    const error = refusal(body, endpoint)
    expect(error).toMatchObject({ kind: 'invalid', code: 'missing_fields' })
    expect(error.message).toBe(`the body lacks required fields: ${names}`)
  })

  it.each([
    ['', 'the body is not valid JSON: it is empty'],
    ['{"a":tru}', "the body is not valid JSON: invalid character '}' in literal true (expecting 'e')"],
    ['{"eventId":"hunter2', 'the body is not valid JSON: unexpected EOF'],
    ['[1]', 'the body must be a JSON object: an event, or a wrapper around one'],
    ['null', 'the body must be a JSON object: an event, or a wrapper around one'],
    ['{} {}', "the body is not valid JSON: invalid character '{' after top-level value"],
  ])('%j: %s', (body, message) => {
    expect(refusal(body)).toMatchObject({ kind: 'invalid', message })
  })

  it('an id that no sender makes', () => {
    expect(refusal(JSON.stringify({ eventId: 'x'.repeat(257), name: 'n' })).message).toMatch(/256 characters/)
  })

  const deepArray = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)
  const deepObject = (levels: number): string => '{"a":'.repeat(levels) + '1' + '}'.repeat(levels)
  it.each([
    ['arrays', `{"eventId":"e","name":"n","content":${deepArray(50_000)}}`],
    ['objects', deepObject(50_000)],
    ['arrays without an end', '['.repeat(50_000)],
    ['a text of arrays', JSON.stringify({ eventId: 'e', name: 'n', content: deepArray(50_000) })],
    ['a text of details', JSON.stringify({ eventId: 'e', name: 'n', details: deepObject(50_000) })],
  ])('50,000 levels of %s', (_, body) => {
    expect(refusal(body)).toMatchObject({ kind: 'invalid', code: 'nested_too_deeply' })
  })

  it('nothing for brackets inside texts, or for the last level that is read', () => {
    expect(read({ eventId: 'e', name: `"\\${'['.repeat(50_000)}` }).kind).toHaveLength(50_002)
    expect(read(`{"eventId":"e","name":"n","content":${deepArray(MAX_NESTING - 1)}}`).kind).toBe('n')
  })
})
