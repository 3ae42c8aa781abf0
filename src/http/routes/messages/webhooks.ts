import { z } from 'zod'

import { checkWebhookToken, relayWebhook } from '../../../events/relay-webhook.js'
import type { RelayDeps } from '../../../events/relay-webhook.js'
import { DELIVERY_HEADERS } from '../../../orchestrator/webhook-request.js'
import { sayingLimit } from '../../exchange/body-errors.js'
import { callerOf } from '../../exchange/caller-of.js'
import { jsonAnswer } from '../../exchange/json-answer.js'
import type { BodyReader } from '../../input/body-reader.js'
import { readJsonBytes } from '../../input/read-json-body.js'
import { json } from '../../pipeline/answer-schemas.js'
import { routesOf } from '../../pipeline/define-routes.js'

/** A push of twenty commits that name ten thousand files is half of it. */
const MAX_DELIVERY_BYTES = 2 * 1024 * 1024

export interface WebhookRoutesDeps extends RelayDeps {
  readonly maxBodyBytes: number
}

const deliveryBody: BodyReader<WebhookRoutesDeps, Uint8Array> = {
  description: 'The delivery as the repository host sends it.',
  schema: z.unknown(),
  read: (exchange, { maxBodyBytes }) => {
    const limit = Math.min(maxBodyBytes, MAX_DELIVERY_BYTES)
    return sayingLimit(readJsonBytes(exchange, limit), `the delivery is over the limit of ${limit} bytes`)
  },
}

/**
 * `POST /webhooks/webhook/gitlab`: takes a delivery, which its secret token vouches for, and passes it on to the gateway; 200 once
 * it cannot get lost any more.
 */
export const webhookRoutes = [
  routesOf<WebhookRoutesDeps>().route({
    method: 'POST',
    path: '/webhooks/webhook/gitlab',
    credential: {
      name: 'gitlabToken',
      check: ({ exchange }, { settings }) => checkWebhookToken(settings, exchange.header('x-gitlab-token')),
    },
    handler: 'webhooks',
    summary: 'Pass a webhook of a GitLab repository on to the gateway',
    body: deliveryBody,
    answers: {
      200: json('It cannot get lost any more.', z.object({ eventProcessed: z.literal(true) })),
      404: { description: 'No token of webhooks is configured.' },
    },
    answer: async ({ exchange, body }, deps) => {
      const headers = Object.fromEntries(DELIVERY_HEADERS.map((name) => [name, exchange.header(name)]))
      await relayWebhook(deps, { body, headers }, callerOf(exchange).origin)
      return jsonAnswer({ eventProcessed: true })
    },
  }),
]
