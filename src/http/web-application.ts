import { makeApplication } from './app.js'
import { openApiDocument } from './openapi/openapi-document.js'
import type { OpenApiOptions } from './openapi/openapi-document.js'
import type { Authenticate, AuthenticatePage } from './pipeline/authenticate.js'
import { guardRoutes } from './pipeline/guarded-routes.js'
import { mountRoutes } from './pipeline/mount-routes.js'
import { routesForProbes } from './direct-routes.js'
import type { RouteOptions } from './direct-routes.js'
import { routeLists } from './route-lists.js'
import type { RoutesDeps } from './route-lists.js'
import type { RequestHandlerOptions } from './transport/handle-request.js'

type Application = RequestHandlerOptions['application']

/** What the routes of all features are put together with. */
export interface WebApplicationParts {
  readonly deps: RoutesDeps
  readonly options: RouteOptions
  readonly authenticate: Authenticate
  readonly authenticatePage: AuthenticatePage
}

/** What answers every request, and what answers those of probes alone. */
export interface WebApplications {
  readonly everything: Application
  readonly probes: Application
}

/** Puts the routes of all features together. */
export function makeWebApplications(parts: WebApplicationParts): WebApplications {
  const { deps, options, authenticate, authenticatePage } = parts
  const bound = routeLists(options).flatMap(({ bind }) => bind(deps))
  const routes = guardRoutes(bound, authenticate, authenticatePage)
  return {
    everything: makeApplication(mountRoutes(routes)),
    probes: makeApplication(mountRoutes(routesForProbes(routes))),
  }
}

/** The description of the API, as JSON text. */
export function describeApi(options: RouteOptions, about: OpenApiOptions): string {
  return JSON.stringify(openApiDocument(routeLists(options), about))
}
