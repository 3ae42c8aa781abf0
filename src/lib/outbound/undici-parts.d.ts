// Files of undici that have no types of their own; those of the whole library tell what they hold.

declare module 'undici/lib/dispatcher/agent.js' {
  export { Agent as default } from 'undici'
}

declare module 'undici/lib/api/api-request.js' {
  import type { Dispatcher } from 'undici'

  export default function request(
    this: Dispatcher,
    options: Dispatcher.RequestOptions,
  ): Promise<Dispatcher.ResponseData>
}
