import { z } from 'zod'

import { JsonText } from '../../../lib/json/text/json-text.js'
import { resendMessage, showMessages, withoutSecrets } from '../../../outbox/outbox-operations.js'
import type { ShownMessage } from '../../../outbox/outbox-operations.js'
import { shownTarget } from '../../../outbox/message-labels.js'
import type { Reader } from '../../../store/ports/readers.js'
import type { Writer } from '../../../store/ports/transaction.js'
import { actorOf } from '../../exchange/caller-of.js'
import { jsonAnswer } from '../../exchange/json-answer.js'
import { TimeRange, rangeOf } from '../../input/time-range.js'
import { numberOf } from '../../input/path-parameter.js'
import { AfterNumber, NextNumber, Time, json, nextNumber, pageSize } from '../../pipeline/answer-schemas.js'
import { routesOf } from '../../pipeline/define-routes.js'
export interface OutboxRoutesDeps {
  readonly writer: Writer
  readonly reader: Reader
  readonly now: () => number
  /** Notifies the sender of a due message. */
  readonly wake: () => void
}

const DEFAULT_PAGE = 50
const MAX_PAGE = 500
const STATES = ['pending', 'delivered', 'given_up'] as const

const ListQuery = z.strictObject({
  state: z.enum(STATES).optional(),
  subject: z.string().optional().describe('Subject of the message, such as `gate-instance:1`.'),
  ...TimeRange,
  limit: pageSize(MAX_PAGE, DEFAULT_PAGE),
  cursor: AfterNumber,
})

const Message = z.looseObject({
  id: z.int(),
  webhookId: z.string(),
  topic: z.string(),
  subject: z.string().optional(),
  application: z.string().optional(),
  executionId: z.string().optional(),
  url: z.string(),
  state: z.enum(STATES),
  attempts: z.int(),
  createdAt: Time,
  nextAttemptAt: Time.optional(),
  settledAt: Time.optional(),
  lastStatus: z.int().optional(),
  lastError: z.string().optional(),
  body: z.unknown().optional(),
  bodyLeftOut: z.string().optional(),
})
const { route } = routesOf<OutboxRoutesDeps>()

/**
 * `GET /outbox` lists outgoing messages, newest first; `POST /outbox/{id}/resend` sends one again.
 */
export const outboxRoutes = [
  route({
    method: 'GET',
    path: '/outbox',
    roles: ['auditor'],
    handler: 'outbox',
    summary: 'Callbacks and relayed webhooks, newest first',
    query: ListQuery,
    answers: { 200: json('A page.', z.object({ messages: z.array(Message), ...NextNumber })) },
    answer: async ({ query: { state, subject, limit, cursor, ...range } }, deps) => {
      const filter = { state, subject, limit, beforeId: cursor, ...rangeOf(range) }
      const messages = await deps.reader.run(showMessages, filter)
      const last = messages.length < limit ? undefined : messages.at(-1)
      return jsonAnswer({ messages: messages.map(toView), ...nextNumber(last?.id) })
    },
  }),
  route({
    method: 'POST',
    path: '/outbox/:id/resend',
    roles: ['admin'],
    handler: 'outbox',
    summary: 'Send a delivered or abandoned message again',
    params: { id: numberOf('message in the outbox') },
    answers: {
      200: json('The message, which is pending again.', Message),
      409: { description: 'The message is pending.' },
    },
    answer: async ({ exchange, params: { id } }, deps) => {
      const message = await deps.writer.run(resendMessage, { id, ...actorOf(exchange, deps) })
      deps.wake()
      return jsonAnswer(toView(withoutSecrets(message)))
    },
  }),
]

/** Headers are omitted, since they may contain credentials. */
function toView(message: ShownMessage): Record<string, unknown> {
  const { id, webhookId, topic, subject, application, executionId, state } = message
  const isPending = state === 'pending'
  return {
    ...{ id, webhookId, topic, subject, application, executionId, url: shownTarget(message), state },
    attempts: message.attempts,
    createdAt: toTime(message.createdMs),
    nextAttemptAt: isPending ? toTime(message.nextAttemptMs) : undefined,
    settledAt: isPending ? undefined : toTime(message.settledMs),
    lastStatus: message.lastStatus,
    lastError: message.lastError,
    ...(message.body === undefined
      ? { bodyLeftOut: 'the bodies of this page are too large; request a smaller page' }
      : { body: new JsonText(message.body) }),
  }
}

function toTime(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : new Date(ms).toISOString()
}
