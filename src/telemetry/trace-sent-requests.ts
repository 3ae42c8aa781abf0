import { subscribe, unsubscribe } from 'node:diagnostics_channel'

import type { SentSpan, Spans } from './spans.js'
import type { SpanAttributes } from './telemetry.js'

/** The used parts of undici's messages (its page "Diagnostics Channel Support"). */
interface Message {
  readonly request: {
    readonly origin?: string | URL
    readonly method: string
    readonly addHeader: (name: string, value: string) => void
  }
  readonly response?: { readonly statusCode: number }
  readonly error?: Error
}

/**
 * Records a span for each request that this thread sends to another service for a trace. Paths and
 * queries are not recorded, because they may contain secrets. Returns a function that stops this.
 */
export function traceSentRequests(spans: Pick<Spans, 'startSent'>): () => void {
  const started = new WeakMap<Message['request'], SentSpan>()
  const listeners = {
    create: ({ request }: Message) => {
      const { method } = request
      const span = spans.startSent(
        method,
        () => attributesOf(request),
        (name, value) => request.addHeader(name, value),
      )
      if (span !== undefined) started.set(request, span)
    },
    headers: ({ request, response }: Message) => started.get(request)?.answered(response?.statusCode ?? 0),
    trailers: ({ request }: Message) => started.get(request)?.end(undefined),
    error: ({ request, error }: Message) => started.get(request)?.end(error),
  }
  const channels = Object.entries(listeners).map(([event, listener]) => ({
    name: `undici:request:${event}`,
    receive: (message: unknown) => listener(message as Message),
  }))
  for (const { name, receive } of channels) subscribe(name, receive)
  return () => {
    for (const { name, receive } of channels) unsubscribe(name, receive)
  }
}

function attributesOf({ method, origin }: Message['request']): SpanAttributes {
  const { hostname, port } = new URL(String(origin))
  return {
    'http.request.method': method,
    'server.address': hostname,
    ...(port !== '' && { 'server.port': Number(port) }),
  }
}
