import type { GuardedDirectRoute, GuardedRoute } from './guarded-routes.js'

/** Finds the route that answers on the exchange itself, by method and path (without repeated and trailing slashes). */
export type FindQuickly = (method: string, path: string) => GuardedDirectRoute | undefined

type ByMethod = Map<string, GuardedDirectRoute>

/**
 * A match that costs a fraction of a microsecond, of the rows that are answered on the exchange: by the whole path, or by what is before `/*`. It
 * takes what the web application would take for the same rows, and leaves other methods to it.
 */
export function makeFindQuickly(routes: readonly GuardedRoute[]): FindQuickly {
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
