import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import type { Attributes, TextMapGetter, TextMapSetter, Tracer } from '@opentelemetry/api'
import type { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { W3CTraceContextPropagator } from '@opentelemetry/core'

import { toAppError } from '../errors/app-error.js'
import type { TracedRequest } from './telemetry.js'

const BAD_REQUEST = 400
const SERVER_ERROR = 500

type SetHeader = (name: string, value: string) => void

const HEADERS_OF: TextMapGetter<TracedRequest> = {
  keys: () => ['traceparent', 'tracestate'],
  get: (request, name) => request.header(name),
}
const SET_HEADER: TextMapSetter<SetHeader> = { set: (setHeader, name, value) => setHeader(name, value) }

/** Records spans. The current one is that of the asynchronous context. */
export class Spans {
  readonly #tracer: Tracer
  readonly #contexts: AsyncLocalStorageContextManager
  readonly #propagator = new W3CTraceContextPropagator()

  constructor(tracer: Tracer, contexts: AsyncLocalStorageContextManager) {
    this.#tracer = tracer
    this.#contexts = contexts
  }

  async inSpan<T>(name: string, attributes: Attributes, work: () => T | Promise<T>): Promise<T> {
    const parent = this.#contexts.active()
    const span = this.#tracer.startSpan(name, { attributes }, parent)
    try {
      return await this.#contexts.with(trace.setSpan(parent, span), work)
    } catch (raw) {
      const { kind } = toAppError(raw)
      span.setAttribute('error.type', kind)
      span.setStatus({ code: SpanStatusCode.ERROR })
      throw raw
    } finally {
      span.end()
    }
  }

  /** Sets the trace id of the request. Never throws by itself. */
  async traceRequest(request: TracedRequest, answer: () => Promise<void>): Promise<void> {
    const parent = this.#propagator.extract(ROOT_CONTEXT, request, HEADERS_OF)
    const span = this.#tracer.startSpan(request.method, { kind: SpanKind.SERVER }, parent)
    request.traceId = span.spanContext().traceId
    try {
      await this.#contexts.with(trace.setSpan(parent, span), answer)
    } finally {
      if (span.isRecording()) {
        span.updateName(`${request.method} ${request.handler}`)
        span.setAttributes({
          'http.request.method': request.method,
          'http.route': request.handler,
          'http.response.status_code': request.status,
          'tidegate.request_id': request.requestId,
          'tidegate.decision_id': request.decisionId,
        })
        if (request.status >= SERVER_ERROR) span.setStatus({ code: SpanStatusCode.ERROR })
      }
      span.end()
    }
  }

  /** Starts the span of a request to another service, and adds the headers that pass the trace on. */
  startSent(method: string, attributes: Attributes, setHeader: SetHeader): SentSpan {
    const parent = this.#contexts.active()
    const span = this.#tracer.startSpan(method, { kind: SpanKind.CLIENT, attributes }, parent)
    this.#propagator.inject(trace.setSpan(parent, span), setHeader, SET_HEADER)
    return {
      answered: (status) => {
        span.setAttribute('http.response.status_code', status)
        if (status >= BAD_REQUEST) span.setStatus({ code: SpanStatusCode.ERROR })
      },
      end: (error) => {
        if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: error.name })
        span.end()
      },
    }
  }
}

/** The span of a request to another service. */
export interface SentSpan {
  readonly answered: (status: number) => void
  readonly end: (error: Error | undefined) => void
}
