import { z } from 'zod'

import { jsonAnswer } from '../../exchange/json-answer.js'
import { json } from '../../pipeline/answer-schemas.js'
import { routesOf } from '../../pipeline/define-routes.js'
import { describePlugins } from './health.js'
import type { HealthPlugin, HealthRoutesDeps } from './health.js'

/** Parts without which callers get all their answers. */
const IN_THE_BACKGROUND: ReadonlySet<string> = new Set(['decision_logs', 'registry'])
const RETRY_AFTER_SECONDS = '1'

const Alive = z.object({ status: z.literal('alive') })
const Ready = z.object({ status: z.literal('ready') })
const NotReady = z.object({ status: z.literal('not ready'), plugins: z.looseObject({}) })
const PROBE = { method: 'GET', roles: 'anyone', handler: 'health' } as const
const ALIVE = { 200: json('It does.', Alive) }
const { route } = routesOf<HealthRoutesDeps>()

/** What programs ask before they send anything, or to know whether the process is to be started anew. */
export const probeRoutes = [
  route({
    ...PROBE,
    path: '/livez',
    summary: 'Whether the process answers; if not, it is to be started anew',
    answers: ALIVE,
    answer: () => jsonAnswer({ status: 'alive' }),
  }),
  route({
    ...PROBE,
    path: '/readyz',
    summary: 'Whether all can be done that callers wait for; if not, requests are to go elsewhere',
    answers: {
      200: json('It can.', Ready),
      503: json('Something cannot: which parts are down, and why.', NotReady),
    },
    answer: (_, { plugins }) => answerReadiness(plugins),
  }),
  route({
    ...PROBE,
    path: '/v1/opa/failOpen',
    // Of some releases the stage goes on without asking any policy where the answer is not 200.
    summary: "Whether policies can be asked, as the orchestrator's policy stage asks first",
    answers: ALIVE,
    answer: () => jsonAnswer({ status: 'alive' }),
  }),
]

function answerReadiness(plugins: readonly HealthPlugin[]): Response {
  const down = plugins.filter(({ name, isUp }) => !IN_THE_BACKGROUND.has(name) && !isUp())
  if (down.length === 0) return jsonAnswer({ status: 'ready' })
  return jsonAnswer({ status: 'not ready', plugins: describePlugins(down) }, 503, {
    'Retry-After': RETRY_AFTER_SECONDS,
  })
}
