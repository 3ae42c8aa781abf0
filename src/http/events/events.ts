import type { EventIntake } from '../../events/event-intake.js'
import type { EventEndpoint } from '../../events/orchestrator-event.js'
import type { Authenticate } from '../pipeline/authenticate.js'
import { callerOf } from '../exchange/caller-of.js'
import type { Exchange } from '../exchange/exchange.js'
import { MethodNotAllowed } from '../exchange/error-body.js'
import { isRootPost } from '../policy/policy-routes.js'
import { readBody, requireJsonType } from '../input/read-body.js'
import { sayingLimit } from '../exchange/body-errors.js'

export interface EventRoutesDeps {
  readonly authenticate: Authenticate
  readonly intake: EventIntake
  readonly maxBodyBytes: number
  /** Whether `POST /` takes events too. */
  readonly atRoot: boolean
}

type Answer = (exchange: Exchange) => Promise<void>

const ENDPOINTS: ReadonlyMap<string, EventEndpoint> = new Map([
  ['/platform/echo', 'echo'],
  ['/oes/echo', 'echo'],
  ['/auditservice/v1/echo/events/data', 'audit'],
])

/** Whether requests for a path are answered without the web application. */
export function isEventPath(path: string): boolean {
  return ENDPOINTS.has(path)
}

/**
 * `POST /platform/echo`, `/oes/echo` and `/auditservice/v1/echo/events/data`: 200 once the event is durable. They are answered on
 * the exchange itself, since thousands a second arrive; all other requests go on to `next`.
 */
export function withEventRoutes(deps: EventRoutesDeps, next: Answer): Answer {
  return (exchange) => {
    const isAtRoot = deps.atRoot && isRootPost(exchange)
    const endpoint = isAtRoot ? 'echo' : ENDPOINTS.get(exchange.target.path)
    return endpoint === undefined ? next(exchange) : answerEvent(deps, endpoint, exchange)
  }
}

async function answerEvent(
  deps: EventRoutesDeps,
  endpoint: EventEndpoint,
  exchange: Exchange,
): Promise<void> {
  exchange.handler = endpoint === 'echo' ? 'platform/echo' : 'auditservice/events'
  if (exchange.method !== 'POST') {
    throw new MethodNotAllowed(exchange.method, exchange.target.path, ['POST'])
  }
  deps.authenticate(exchange, ['orchestrator'])
  requireJsonType(exchange)
  const { maxBodyBytes: limit } = deps
  const body = await sayingLimit(
    readBody(exchange, limit),
    `the event is over the limit of ${limit} bytes (audit.maxBodyBytes)`,
  )
  const { seq } = await deps.intake.take(body, endpoint, callerOf(exchange).origin)
  exchange.send(200, `{"seq":${seq}}\n`)
}
