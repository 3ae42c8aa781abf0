import type { Registry } from 'prom-client'

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>

/** Does `work` in a span with a name. Rethrows its error. */
export type InSpan = <T>(
  name: string,
  attributes: SpanAttributes,
  work: () => T | Promise<T>,
) => T | Promise<T>

/** Like `InSpan`. `traceparent` is the span that it continues; without one, the current trace. */
export type InTrace = <T>(
  name: string,
  attributes: SpanAttributes,
  work: () => T | Promise<T>,
  traceparent?: string,
) => T | Promise<T>

/** The parts of a request that its span shows. `handler` and `status` are read at the end. */
export interface TracedRequest {
  readonly method: string
  readonly handler: string
  readonly status: number
  readonly requestId: string
  readonly decisionId: string | undefined
  /** Set to the trace of the span: 32 hex digits. */
  traceId: string | undefined
  header(name: string): string | undefined
}

/** Returns all metrics of the service as plain data. */
export type CollectMetrics = () => ReturnType<Registry['getMetricsAsJSON']>

/** Records what the service does. */
export interface Tracing {
  /** Records a part of the current trace; without one, only does the work. */
  readonly inSpan: InSpan
  /** Begins a trace if there is none to continue. */
  readonly inTrace: InTrace
  /** The current span in the form of W3C Trace Context; undefined without a trace. */
  readonly traceparent: () => string | undefined
  /** Answers a request in a span that continues the caller's trace (W3C Trace Context). */
  readonly traceRequest: (request: TracedRequest, answer: () => Promise<void>) => Promise<void>
}

/** Sends traces and metrics to a collector, within seconds even if it does not answer. */
export interface Telemetry {
  /** Undefined if no traces are sent. */
  readonly tracing: Tracing | undefined
  /**
   * Uploads the metrics from now on. Returns a function that uploads them a last time, undefined if
   * no metrics are sent.
   */
  readonly exportMetrics: (collect: CollectMetrics) => (() => Promise<void>) | undefined
  /** Sends the spans that wait. */
  readonly close: () => Promise<void>
}

export interface TelemetryOptions {
  /** Base URL of the collector. */
  readonly endpoint: string
  readonly signals: readonly ('traces' | 'metrics')[]
  /** Share of the requests without a `traceparent` that are traced, from 0 to 1. */
  readonly sampleRatio: number
  /** Largest number of traces that begin here in a second. */
  readonly maxTracesPerSecond: number
  readonly intervalMs: number
  readonly headers: Readonly<Record<string, string>>
  /** PEM certificates of trusted authorities. */
  readonly ca: string | undefined
  readonly serviceName: string
  readonly version: string
  /** Distinguishes the processes of a service. */
  readonly instance: string
  /** Receives the errors of uploads. */
  readonly failed: (error: unknown) => void
}
