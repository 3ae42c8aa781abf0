import type { GuardedDirectRoute, GuardedRoute } from './guarded-routes.js'

/** Finds the direct route for a method and a path without repeated and trailing slashes. */
export type FindDirectRoute = (method: string, path: string) => GuardedDirectRoute | undefined

type ByMethod = Map<string, GuardedDirectRoute>

/**
 * Creates the lookup of direct routes by path, or by the prefix before `/*`. It matches the same
 * paths as the web application and leaves other methods to it.
 */
export function makeFindDirectRoute(routes: readonly GuardedRoute[]): FindDirectRoute {
  const exact = new Map<string, ByMethod>()
  const below = new Map<string, ByMethod>()
  for (const route of routes) {
    if (route.kind !== 'direct') continue
    const { path, method } = route
    const [known, key] = path.endsWith('/*') ? [below, path.slice(0, -1)] : [exact, path]
    const methods = known.get(key) ?? new Map<string, GuardedDirectRoute>()
    known.set(key, methods.set(method, methods.get(method) ?? route))
  }
  const prefixes = [...below]
  return (method, path) => {
    for (const [prefix, methods] of prefixes) if (path.startsWith(prefix)) return methods.get(method)
    return exact.get(path)?.get(method)
  }
}
