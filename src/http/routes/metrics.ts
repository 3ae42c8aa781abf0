import { Hono } from 'hono'

import type { AppEnv } from '../app-env.js'
import type { Authenticate } from '../authenticate.js'
import type { ServiceMetrics } from '../service-metrics.js'

/** `GET /metrics`: the figures in Prometheus's text format. */
export function metricsRoutes(authenticate: Authenticate, { registry }: ServiceMetrics): Hono<AppEnv> {
  const app = new Hono<AppEnv>()
  app.get('/', async (c) => {
    c.env.exchange.handler = 'metrics'
    authenticate(c.env.exchange, ['auditor'])
    return new Response(await registry.metrics(), { headers: { 'Content-Type': registry.contentType } })
  })
  return app
}
