import { AsyncLocalStorage } from 'node:async_hooks'

import { SpanKind, SpanStatusCode, TraceFlags } from '@opentelemetry/api'
import type { SpanContext } from '@opentelemetry/api'
import { TraceState, parseTraceParent } from '@opentelemetry/core'
import type { RandomIdGenerator } from '@opentelemetry/sdk-trace'

import { toAppError } from '../errors/app-error.js'
import { RecordedSpan } from './recorded-span.js'
import type { SpanSource } from './recorded-span.js'
import type { InSpan, InTrace, SpanAttributes, TracedRequest } from './telemetry.js'

const BAD_REQUEST = 400
const SERVER_ERROR = 500

type SetHeader = (name: string, value: string) => void

/** The trace that a part of the service works for. */
interface Current {
  readonly context: SpanContext
  /** Undefined if the caller's trace is passed on without being recorded. */
  readonly span: RecordedSpan | undefined
}

interface SpansOptions extends SpanSource {
  readonly ids: RandomIdGenerator
  /** Whether to record a trace that begins now. */
  readonly isSampled: () => boolean
  readonly ended: (span: RecordedSpan) => void
}

/**
 * Records spans. The current one is that of the asynchronous context. Work without one is not
 * recorded, so that a request which is not sampled costs nothing.
 */
export class Spans {
  readonly #options: SpansOptions
  readonly #current = new AsyncLocalStorage<Current>()

  constructor(options: SpansOptions) {
    this.#options = options
  }

  readonly inSpan: InSpan = (name, attributes, work) => {
    const parent = this.#current.getStore()?.span
    return parent === undefined
      ? work()
      : this.#run(this.#start(name, SpanKind.INTERNAL, parent.spanContext(), parent, attributes), work)
  }

  readonly inTrace: InTrace = (name, attributes, work, traceparent) => {
    const caller = traceparent === undefined ? null : parseTraceParent(traceparent)
    if (caller !== null && !isSampled(caller))
      return this.#current.run({ context: caller, span: undefined }, work)
    if (caller !== null)
      return this.#run(this.#start(name, SpanKind.INTERNAL, caller, undefined, attributes), work)
    if (this.#current.getStore() !== undefined) return this.inSpan(name, attributes, work)
    if (!this.#options.isSampled()) return work()
    return this.#run(this.#start(name, SpanKind.INTERNAL, undefined, undefined, attributes), work)
  }

  readonly traceparent = (): string | undefined => {
    const current = this.#current.getStore()
    return current && printTraceparent(current.context)
  }

  /** Sets the trace id of a recorded request. Never throws by itself. */
  readonly traceRequest = (request: TracedRequest, answer: () => Promise<void>): Promise<void> => {
    const caller = callerOf(request)
    if (caller === undefined && !this.#options.isSampled()) return answer()
    if (caller === undefined || isSampled(caller)) return this.#recordRequest(request, caller, answer)
    return this.#current.run({ context: caller, span: undefined }, answer)
  }

  /**
   * Starts the span of a request to another service, and adds the headers that pass the trace on.
   * Undefined if it is not recorded.
   */
  startSent(method: string, attributes: () => SpanAttributes, setHeader: SetHeader): SentSpan | undefined {
    const current = this.#current.getStore()
    if (current === undefined) return undefined
    const { span: parent, context } = current
    if (parent === undefined) {
      passOn(context, setHeader)
      return undefined
    }
    const span = this.#start(method, SpanKind.CLIENT, context, parent, attributes())
    passOn(span.spanContext(), setHeader)
    return {
      answered: (status) => {
        span.attributes = { ...span.attributes, 'http.response.status_code': status }
        if (status >= BAD_REQUEST) span.status = { code: SpanStatusCode.ERROR }
      },
      end: (error) => {
        if (error !== undefined) span.status = { code: SpanStatusCode.ERROR, message: error.name }
        this.#end(span)
      },
    }
  }

  async #recordRequest(
    request: TracedRequest,
    caller: SpanContext | undefined,
    answer: () => Promise<void>,
  ): Promise<void> {
    const span = this.#start(request.method, SpanKind.SERVER, caller, undefined, {})
    request.traceId = span.spanContext().traceId
    try {
      await this.#current.run({ context: span.spanContext(), span }, answer)
    } finally {
      span.name = `${request.method} ${request.handler}`
      span.attributes = {
        'http.request.method': request.method,
        'http.route': request.handler,
        'http.response.status_code': request.status,
        'tidegate.request_id': request.requestId,
        ...(request.decisionId !== undefined && { 'tidegate.decision_id': request.decisionId }),
      }
      if (request.status >= SERVER_ERROR) span.status = { code: SpanStatusCode.ERROR }
      this.#end(span)
    }
  }

  #start(
    name: string,
    kind: SpanKind,
    parent: SpanContext | undefined,
    before: RecordedSpan | undefined,
    attributes: SpanAttributes,
  ): RecordedSpan {
    const { ids } = this.#options
    const context: SpanContext = {
      traceId: parent?.traceId ?? ids.generateTraceId(),
      spanId: ids.generateSpanId(),
      traceFlags: TraceFlags.SAMPLED,
      ...(parent?.traceState !== undefined && { traceState: parent.traceState }),
    }
    return new RecordedSpan(this.#options, { name, kind, context, parent, before, attributes })
  }

  #end(span: RecordedSpan): void {
    span.end()
    this.#options.ended(span)
  }

  #run<T>(span: RecordedSpan, work: () => T | Promise<T>): T | Promise<T> {
    const failed = (raw: unknown): never => {
      span.attributes = { ...span.attributes, 'error.type': toAppError(raw).kind }
      span.status = { code: SpanStatusCode.ERROR }
      this.#end(span)
      throw raw
    }
    let result
    try {
      result = this.#current.run({ context: span.spanContext(), span }, work)
    } catch (raw) {
      return failed(raw)
    }
    if (result instanceof Promise) {
      return result.then((value) => {
        this.#end(span)
        return value
      }, failed)
    }
    this.#end(span)
    return result
  }
}

/** The span of a request to another service. */
export interface SentSpan {
  readonly answered: (status: number) => void
  readonly end: (error: Error | undefined) => void
}

function isSampled({ traceFlags }: SpanContext): boolean {
  return (traceFlags & TraceFlags.SAMPLED) !== 0
}

/** Reads the caller's trace (W3C Trace Context). Undefined without a valid one. */
function callerOf(request: TracedRequest): SpanContext | undefined {
  const header = request.header('traceparent')
  const context = header === undefined ? null : parseTraceParent(header)
  if (context === null) return undefined
  const state = request.header('tracestate')
  return { ...context, isRemote: true, ...(state !== undefined && { traceState: new TraceState(state) }) }
}

function printTraceparent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-0${traceFlags & TraceFlags.SAMPLED}`
}

function passOn(context: SpanContext, setHeader: SetHeader): void {
  setHeader('traceparent', printTraceparent(context))
  const state = context.traceState?.serialize()
  if (state) setHeader('tracestate', state)
}
