import { makeApp } from '../../../src/http/app.js'
import type { AppDeps } from '../../../src/http/app.js'

export interface FuzzRoute {
  readonly method: string
  readonly path: string
}

/** What the request handler answers before the application. */
const BEFORE_APPLICATION: readonly FuzzRoute[] = [
  ...['/v1/data/app', '/v1/data/app/allow', '/v0/data/app', '/v1/staticPolicy/eval', '/'].map((path) => ({
    method: 'POST',
    path,
  })),
  { method: 'GET', path: '/v1/data/app?input=%7B%7D' },
  { method: 'POST', path: '/v1/data/**?requestUri=/v1/data/app/allow' },
  ...['/platform/echo', '/oes/echo', '/auditservice/v1/echo/events/data'].map((path) => ({
    method: 'POST',
    path,
  })),
]

/** Every route there is, as the application itself lists them, with numbers for the parameters of their paths. */
export function allRoutes(): readonly FuzzRoute[] {
  const anything: unknown = new Proxy(() => undefined, { get: () => anything })
  const { routes } = makeApp(anything as AppDeps)
  const own = routes.filter(({ method }) => method !== 'ALL')
  return [
    ...BEFORE_APPLICATION,
    ...own.map(({ method, path }) => ({
      method,
      path: path.replaceAll(/:version\{[^}]*\}/g, 'v2').replaceAll(/:\w+(?:\{[^}]*\})?/g, '1'),
    })),
  ]
}
