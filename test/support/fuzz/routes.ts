import { examplePath, servedRoutes } from '../served-routes.js'

export interface FuzzRoute {
  readonly method: string
  readonly path: string
}

/** Other forms of the same routes that the lists of routes do not contain. */
const MORE: readonly FuzzRoute[] = [
  { method: 'POST', path: '/v1/data/app' },
  { method: 'GET', path: '/v1/data/app?input=%7B%7D' },
  { method: 'POST', path: '/v1/data/**?requestUri=/v1/data/app/allow' },
]

/** Every route there is, with numbers for the parameters of their paths. */
export function allRoutes(): readonly FuzzRoute[] {
  return [...MORE, ...servedRoutes().map(({ method, path }) => ({ method, path: examplePath(path) }))]
}
