import type { GuardedRoute } from './pipeline/guarded-routes.js'
import type { BoundRoute, Route, RouteList } from './pipeline/route.js'
import { defaultDecisionRoutes, policyRoutes } from './policy/policy-routes.js'
import type { PolicyContext } from './policy/decision.js'
import { healthRoutes, failOpenRoute, probeRoutes } from './routes/about/health.js'
import type { HealthRoutesDeps } from './routes/about/health.js'
import { eventRoutes, rootEventRoutes } from './routes/trail/events.js'
import type { EventRoutesDeps } from './routes/trail/events.js'

/** The routes of one feature, which are given `D`. */
export interface BindableRoutes<D> extends RouteList {
  readonly bind: (deps: D) => readonly BoundRoute[]
}

/** What differs from service to service. */
export interface RouteOptions {
  /** Whether `POST /` takes events, and does not ask for the default decision. */
  readonly eventsAtRoot: boolean
}

/** What the routes that are answered on the exchange are given. */
export interface DirectDeps {
  readonly policy: PolicyContext
  readonly events: EventRoutesDeps
  readonly health: HealthRoutesDeps
}

/** The operations that decide. */
export function decidingRoutes({ eventsAtRoot }: RouteOptions): readonly Route<PolicyContext>[] {
  return eventsAtRoot ? policyRoutes : [...policyRoutes, ...defaultDecisionRoutes]
}

/** The lists of what is answered on the exchange itself. They stand apart from all others, which are loaded when somebody first asks for one of them. */
export function directLists(options: RouteOptions): {
  readonly policies: BindableRoutes<DirectDeps>
  readonly events: BindableRoutes<DirectDeps>
  readonly health: BindableRoutes<DirectDeps>
} {
  const events = options.eventsAtRoot ? [...eventRoutes, ...rootEventRoutes] : eventRoutes
  return {
    policies: listOf('policies', decidingRoutes(options), ({ policy }) => policy),
    events: listOf('events', events, (deps) => deps.events),
    health: listOf('operation', [...healthRoutes, ...probeRoutes, failOpenRoute], ({ health }) => health),
  }
}

/** The routes of a feature, each given what is its own of all that there is. */
export function listOf<All, D>(
  feature: string,
  routes: readonly Route<D>[],
  own: (deps: All) => D,
): BindableRoutes<All> {
  return {
    feature,
    routes: routes.map(({ description }) => description),
    bind: (deps) => routes.map((route) => route.bind(own(deps))),
  }
}

const PROBED: ReadonlySet<string> = new Set(['/health', '/livez', '/readyz', '/metrics'])

/** What is served at an address for probes and monitoring only. */
export function routesForProbes(routes: readonly GuardedRoute[]): readonly GuardedRoute[] {
  return routes.filter(({ path }) => PROBED.has(path))
}
