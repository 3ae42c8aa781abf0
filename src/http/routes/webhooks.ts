import { Hono } from 'hono'

import { checkWebhookToken, relayWebhook } from '../../events/relay-webhook.js'
import type { RelayDeps } from '../../events/relay-webhook.js'
import type { AppEnv } from '../exchange/exchange.js'
import { callerOf } from '../exchange/caller-of.js'
import { jsonAnswer } from '../exchange/json-answer.js'
import { readJsonBytes } from '../input/read-json-body.js'
import { sayingLimit } from '../exchange/body-errors.js'

/** A push of twenty commits that name ten thousand files is half of it. */
const MAX_DELIVERY_BYTES = 2 * 1024 * 1024

export interface WebhookRoutesDeps extends RelayDeps {
  readonly maxBodyBytes: number
}

/**
 * `POST /webhooks/webhook/gitlab`: takes a delivery, which its secret token vouches for, and passes it on to the gateway; 200 once
 * it cannot get lost any more.
 */
export function webhookRoutes(deps: WebhookRoutesDeps): Hono<AppEnv> {
  const app = new Hono<AppEnv>()
  app.post('/webhook/gitlab', async (c) => {
    const { exchange } = c.env
    exchange.handler = 'webhooks'
    checkWebhookToken(deps.settings, exchange.header('x-gitlab-token'))
    const limit = Math.min(deps.maxBodyBytes, MAX_DELIVERY_BYTES)
    const body = await sayingLimit(
      readJsonBytes(exchange, limit),
      `the delivery is over the limit of ${limit} bytes`,
    )
    await relayWebhook(deps, { body, headers: c.req.header() }, callerOf(exchange).origin)
    return jsonAnswer({ eventProcessed: true })
  })
  return app
}
