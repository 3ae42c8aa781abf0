import type { Exchange } from './exchange.js'

/** What a route of the web application finds beside the request itself. */
export interface AppEnv {
  readonly Bindings: { readonly exchange: Exchange }
}
