import type { Registry } from 'prom-client'

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>

/** Runs `work` as a part of the current trace, under a name. Rethrows its error. */
export type InSpan = <T>(name: string, attributes: SpanAttributes, work: () => T | Promise<T>) => Promise<T>

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

/** Sends traces and metrics to a collector. */
export interface Telemetry {
  readonly inSpan: InSpan
  /** Answers a request in a span that continues the caller's trace (W3C Trace Context). */
  readonly traceRequest: (request: TracedRequest, answer: () => Promise<void>) => Promise<void>
  /** Uploads the metrics from now on. */
  readonly exportMetrics: (collect: CollectMetrics) => void
  /** Sends what is waiting, and ends within seconds even if the collector does not answer. */
  readonly close: () => Promise<void>
}

export interface TelemetryOptions {
  /** Base URL of the collector. */
  readonly endpoint: string
  readonly signals: readonly ('traces' | 'metrics')[]
  /** Share of the requests without a `traceparent` that are traced, from 0 to 1. */
  readonly sampleRatio: number
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
