import { z } from 'zod'

import type { EventIntake } from '../../../events/event-intake.js'
import type { EventEndpoint } from '../../../events/orchestrator-event.js'
import { callerOf } from '../../exchange/caller-of.js'
import { withLimitMessage } from '../../exchange/body-errors.js'
import type { Exchange } from '../../exchange/exchange.js'
import { readBody, requireJsonType } from '../../input/read-body.js'
import { json } from '../../pipeline/answer-schemas.js'
import { routesOf } from '../../pipeline/define-routes.js'
import type { Route } from '../../pipeline/route.js'

export interface EventRoutesDeps {
  readonly intake: EventIntake
  readonly maxBodyBytes: number
}

const KEPT = { 200: json('The event is durable.', z.object({ seq: z.int() })) }
const EVENT = {
  description: 'An event of the orchestrator: whole, wrapped or flattened.',
  schema: z.looseObject({}),
}
const { directRoute } = routesOf<EventRoutesDeps>()

/**
 * `POST /platform/echo`, `/oes/echo` and `/auditservice/v1/echo/events/data`: 200 once the event is
 * durable.
 */
export const eventRoutes = [
  eventRoute('/platform/echo', 'echo'),
  eventRoute('/oes/echo', 'echo'),
  eventRoute('/auditservice/v1/echo/events/data', 'audit'),
]

/** `POST /`, for an orchestrator that sends its events there. */
export const rootEventRoutes = [eventRoute('/', 'echo')]

function eventRoute(path: string, endpoint: EventEndpoint): Route<EventRoutesDeps> {
  return directRoute({
    method: 'POST',
    path,
    roles: ['orchestrator'],
    handler: endpoint === 'echo' ? 'platform/echo' : 'auditservice/events',
    summary: 'Store an event of the orchestrator',
    body: EVENT,
    answers: KEPT,
    answerOn: (deps, exchange) => answerEvent(deps, endpoint, exchange),
  })
}

async function answerEvent(
  { intake, maxBodyBytes: limit }: EventRoutesDeps,
  endpoint: EventEndpoint,
  exchange: Exchange,
): Promise<void> {
  requireJsonType(exchange)
  const body = await withLimitMessage(
    readBody(exchange, limit),
    `the event exceeds ${limit} bytes (audit.maxBodyBytes)`,
  )
  const { seq } = await intake.take(body, endpoint, callerOf(exchange).origin)
  exchange.send(200, `{"seq":${seq}}\n`)
}
