import { z } from 'zod'

import type { Exchange } from '../../exchange/exchange.js'
import { sendJson } from '../../exchange/json-answer.js'
import { json } from '../../pipeline/answer-schemas.js'
import { routesOf } from '../../pipeline/define-routes.js'
import { PROBE, describePlugins } from './health.js'
import type { HealthPlugin, HealthRoutesDeps } from './health.js'

/** Parts without which callers get all their answers. */
const IN_THE_BACKGROUND: ReadonlySet<string> = new Set(['decision_logs', 'registry'])
const RETRY_AFTER_SECONDS = '1'

const Alive = z.object({ status: z.literal('alive') })
const Ready = z.object({ status: z.literal('ready') })
const NotReady = z.object({ status: z.literal('not ready'), plugins: z.looseObject({}) })
const ALIVE = { 200: json('It does.', Alive) }
const { directRoute } = routesOf<HealthRoutesDeps>()

/** What programs ask before they send anything, or to know whether the process is to be started anew. */
export const probeRoutes = [
  directRoute({
    ...PROBE,
    path: '/livez',
    summary: 'Whether the process answers; if not, it is to be started anew',
    answers: ALIVE,
    answerOn: (_, exchange) => sendJson(exchange, { status: 'alive' }),
  }),
  directRoute({
    ...PROBE,
    path: '/readyz',
    summary: 'Whether all can be done that callers wait for; if not, requests are to go elsewhere',
    answers: {
      200: json('It can.', Ready),
      503: json('Something cannot: which parts are down, and why.', NotReady),
    },
    answerOn: ({ plugins }, exchange) => answerReadiness(exchange, plugins),
  }),
]

/** It depends on nothing, so that each process that decides answers it. */
export const failOpenRoute = routesOf<unknown>().directRoute({
  ...PROBE,
  path: '/v1/opa/failOpen',
  // Of some releases the stage goes on without asking any policy where the answer is not 200.
  summary: "Whether policies can be asked, as the orchestrator's policy stage asks first",
  answers: ALIVE,
  answerOn: (_, exchange) => sendJson(exchange, { status: 'alive' }),
})

function answerReadiness(exchange: Exchange, plugins: readonly HealthPlugin[]): void {
  const down = plugins.filter(({ name, isUp }) => !IN_THE_BACKGROUND.has(name) && !isUp())
  if (down.length === 0) {
    sendJson(exchange, { status: 'ready' })
    return
  }
  const body = { status: 'not ready', plugins: describePlugins(down) }
  sendJson(exchange, body, 503, { 'Retry-After': RETRY_AFTER_SECONDS })
}
