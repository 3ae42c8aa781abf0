import type { Hono } from 'hono'

import type { AppEnv } from '../exchange/exchange.js'
import { MethodNotAllowed } from '../exchange/error-body.js'
import type { BoundRoute } from './route.js'

/** The methods of each path of the lists, sorted. HEAD comes with GET where the web application answers, which leaves the body out, and with probes. */
export function methodsByPath(
  routes: readonly Pick<BoundRoute, 'method' | 'path' | 'kind' | 'isProbe'>[],
): ReadonlyMap<string, readonly string[]> {
  const methods = new Map<string, Set<string>>()
  for (const { path, method, kind, isProbe } of routes) {
    const known = methods.get(path) ?? new Set()
    methods.set(path, known.add(method))
    if (method === 'GET' && (kind === 'application' || isProbe === true)) known.add('HEAD')
  }
  return new Map([...methods].map(([path, known]) => [path, [...known].sort()]))
}

/** Answers the other methods of every path with an error that names the right ones. Called last: only what no route takes gets here. */
export function refuseOtherMethods(app: Hono<AppEnv>, methods: ReadonlyMap<string, readonly string[]>): void {
  for (const [path, known] of methods) {
    app.all(path, (c) => {
      throw new MethodNotAllowed(c.req.method, c.req.path, known)
    })
  }
}
