import type { Hono } from 'hono'

import type { AppEnv } from '../exchange/exchange.js'
import { MethodNotAllowed } from '../exchange/error-body.js'

/**
 * Answers the other methods of every path that the application has so far with an error that names the right ones.
 * `more` adds methods that are answered before the application. Called last: only what no route takes gets here.
 */
export function refuseOtherMethods(
  app: Hono<AppEnv>,
  more: Readonly<Record<string, readonly string[]>> = {},
): void {
  const methods = new Map<string, Set<string>>()
  for (const { path, method } of app.routes) {
    // Middleware stands in the same list, as a route of all methods.
    if (method === 'ALL') continue
    const known = methods.get(path) ?? new Set(more[path])
    methods.set(path, known.add(method))
    if (method === 'GET') known.add('HEAD')
  }
  for (const [path, known] of methods) {
    app.all(path, (c) => {
      throw new MethodNotAllowed(c.req.method, c.req.path, [...known].sort())
    })
  }
}
