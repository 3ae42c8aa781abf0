import type { GuardedRoute } from './pipeline/guarded-routes.js'
import type { BoundRoute, Route, RouteList } from './pipeline/route.js'
import { defaultDecisionRoutes, policyRoutes } from './policy/policy-routes.js'
import type { PolicyContext } from './policy/decision.js'
import { healthRoutes, failOpenRoute, probeRoutes } from './routes/about/health.js'
import type { HealthRoutesDeps } from './routes/about/health.js'
import { eventRoutes, rootEventRoutes } from './routes/trail/events.js'
import type { EventRoutesDeps } from './routes/trail/events.js'

/** The routes of one feature. `D` is the type of their dependencies. */
export interface BindableRoutes<D> extends RouteList {
  readonly bind: (deps: D) => readonly BoundRoute[]
}

/** Options that change which routes are served. */
export interface RouteOptions {
  /** True if `POST /` accepts events instead of evaluating the default decision. */
  readonly eventsAtRoot: boolean
}
export interface DirectDeps {
  readonly policy: PolicyContext
  readonly events: EventRoutesDeps
  readonly health: HealthRoutesDeps
}

/** Returns the routes that make decisions. */
export function decidingRoutes({ eventsAtRoot }: RouteOptions): readonly Route<PolicyContext>[] {
  return eventsAtRoot ? policyRoutes : [...policyRoutes, ...defaultDecisionRoutes]
}

/** Returns the direct routes of all features. All other routes are loaded on first use. */
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

/** Returns the routes of a feature, bound to their part of the dependencies. */
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

/** Whether a path is for probes and monitoring. */
export function isProbed(path: string): boolean {
  return PROBED.has(path)
}

/** Returns the routes that are served at the address for probes and monitoring. */
export function routesForProbes(routes: readonly GuardedRoute[]): readonly GuardedRoute[] {
  return routes.filter(({ path }) => isProbed(path))
}
