import type { BoundRoute, RouteDescription } from '../../src/http/pipeline/route.js'
import { routeLists } from '../../src/http/route-lists.js'
import type { RoutesDeps } from '../../src/http/route-lists.js'

/** Every route that a service has by default, as its list says it. */
export function servedRoutes(): readonly RouteDescription[] {
  return routeLists({ eventsAtRoot: false }).flatMap(({ routes }) => routes)
}

/** These routes with handlers that must not be called: they are given nothing. */
export function unansweredRoutes(): readonly BoundRoute[] {
  return routeLists({ eventsAtRoot: false }).flatMap(({ bind }) => bind({} as RoutesDeps))
}

/**
 * A path that a route takes: a number for each parameter, and a policy below a path that is open at
 * its end.
 */
export function examplePath(path: string): string {
  return path.replaceAll(/:\w+/g, '1').replace(/\/\*$/, '/app/allow')
}
