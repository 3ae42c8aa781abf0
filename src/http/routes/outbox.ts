import { Hono } from 'hono'
import { z } from 'zod'

import { JsonText } from '../../lib/json/text/json-text.js'
import { shownUrl } from '../../lib/outbound/shown-url.js'
import { resendMessage, showMessages, withoutSecrets } from '../../outbox/outbox-operations.js'
import type { ShownMessage } from '../../outbox/outbox-operations.js'
import type { Reader } from '../../store/ports/readers.js'
import type { Writer } from '../../store/ports/transaction.js'
import type { AppEnv } from '../exchange/exchange.js'
import type { Authenticate } from '../pipeline/authenticate.js'
import { actorOf } from '../exchange/caller-of.js'
import { jsonAnswer } from '../exchange/json-answer.js'
import { parseQuery } from '../input/parse-query.js'
import { requirePathNumber } from '../input/path-number.js'

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

const ListQuery = z.strictObject({
  state: z.enum(['pending', 'delivered', 'given_up']).optional(),
  subject: z.string().optional(),
  limit: z.coerce.number().int().min(1).max(MAX_PAGE).default(DEFAULT_PAGE),
  cursor: z.coerce.number().int().min(1).optional(),
})

/** `GET /outbox` lists messages to others, newest first; `POST /outbox/{id}/resend` sends one again. */
export function outboxRoutes(authenticate: Authenticate, deps: OutboxRoutesDeps): Hono<AppEnv> {
  const app = new Hono<AppEnv>()
  app.get('/', async (c) => {
    c.env.exchange.handler = 'outbox'
    authenticate(c.env.exchange, ['auditor'])
    const { cursor, ...filter } = parseQuery(ListQuery, c.req.query())
    const messages = await deps.reader.run(showMessages, { ...filter, beforeId: cursor })
    const last = messages.length < filter.limit ? undefined : messages.at(-1)
    return jsonAnswer({ messages: messages.map(toView), ...(last && { next: String(last.id) }) })
  })
  app.post('/:id/resend', async (c) => {
    c.env.exchange.handler = 'outbox'
    authenticate(c.env.exchange, ['admin'])
    const id = requirePathNumber(c.req.param('id'), 'message in the outbox')
    const message = await deps.writer.run(resendMessage, {
      id,
      ...actorOf(c.env.exchange, deps),
    })
    deps.wake()
    return jsonAnswer(toView(withoutSecrets(message)))
  })
  return app
}

/** Headers are left out, since some topics put credentials there. */
function toView(message: ShownMessage): Record<string, unknown> {
  const { id, webhookId, topic, subject, application, executionId, url, state } = message
  const isPending = state === 'pending'
  return {
    ...{ id, webhookId, topic, subject, application, executionId, url: shownUrl(url), state },
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
