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

/** What the routes of the outbox need. */
export interface OutboxRoutesDeps {
  readonly writer: Writer
  readonly reader: Reader
  readonly now: () => number
  /** Tells the sender that something may be due. */
  readonly wake: () => void
}

const DEFAULT_PAGE = 50
const MAX_PAGE = 500
const STATES = ['pending', 'delivered', 'given_up'] as const

const ListQuery = z.strictObject({
  state: z.enum(STATES).optional(),
  subject: z.string().optional().describe('What the message is about, such as `gate-instance:1`.'),
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

/** `GET /outbox` lists messages to others, newest first; `POST /outbox/{id}/resend` sends one again. */
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
    summary: 'Send a message again that was delivered or given up',
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

/** Headers are left out, since some topics put credentials there. */
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
      ? { bodyLeftOut: 'the bodies of this page are too long: ask for a smaller one' }
      : { body: new JsonText(message.body) }),
  }
}

function toTime(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : new Date(ms).toISOString()
}
