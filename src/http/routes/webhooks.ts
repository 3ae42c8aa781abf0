import { Hono } from 'hono'

import { relayWebhook } from '../../events/relay-webhook.js'
import type { RelayDeps } from '../../events/relay-webhook.js'
import type { AppEnv } from '../app-env.js'
import { callerOf } from '../caller-of.js'
import { jsonAnswer } from '../json-answer.js'
import { readJsonBytes } from '../read-json-body.js'

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
    const body = await readJsonBytes(exchange, deps.maxBodyBytes)
    await relayWebhook(deps, { body, headers: c.req.header() }, callerOf(exchange).origin)
    return jsonAnswer({ eventProcessed: true })
  })
  return app
}
