import { setGlobalErrorHandler } from '@opentelemetry/core'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { resourceFromAttributes } from '@opentelemetry/resources'
import type { Resource } from '@opentelemetry/resources'
import { PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { BatchSpanProcessor, RandomIdGenerator } from '@opentelemetry/sdk-trace'

import { MetricProducer } from './metric-producer.js'
import { Spans } from './spans.js'
import type { Telemetry, TelemetryOptions } from './telemetry.js'
import { traceSentRequests } from './trace-sent-requests.js'

/** Longest wait for the collector, also at the end of the service. */
const EXPORT_TIMEOUT_MS = 5000

/** Starts to send traces and metrics over OTLP. */
export function openTelemetry(options: TelemetryOptions): Telemetry {
  setGlobalErrorHandler(options.failed)
  const resource = resourceFromAttributes({
    'service.name': options.serviceName,
    'service.version': options.version,
    'service.instance.id': options.instance,
  })
  const startMs = Date.now()
  const traces = options.signals.includes('traces') ? openTraces(options, resource) : undefined
  return {
    tracing: traces?.spans,
    exportMetrics: (collect) => {
      if (!options.signals.includes('metrics')) return undefined
      const reader = new PeriodicExportingMetricReader({
        exporter: new OTLPMetricExporter(exporterOptions(options, 'metrics')),
        exportIntervalMillis: options.intervalMs,
        exportTimeoutMillis: Math.min(EXPORT_TIMEOUT_MS, options.intervalMs),
      })
      reader.setMetricProducer(new MetricProducer(resource, collect, startMs))
      return async () => {
        await Promise.allSettled([reader.shutdown({ timeoutMillis: EXPORT_TIMEOUT_MS })])
      }
    },
    close: async () => traces?.close(),
  }
}

function openTraces(
  options: TelemetryOptions,
  resource: Resource,
): { readonly spans: Spans; readonly close: () => Promise<void> } {
  const exporter = new OTLPTraceExporter(exporterOptions(options, 'traces'))
  const processor = new BatchSpanProcessor({ exporter, exportTimeoutMillis: EXPORT_TIMEOUT_MS })
  const spans = new Spans({
    resource,
    scope: { name: 'tidegate', version: options.version },
    ids: new RandomIdGenerator(),
    isSampled: makeSampler(options),
    ended: (span) => processor.onEnd(span),
  })
  const stopTracing = traceSentRequests(spans)
  return {
    spans,
    close: async () => {
      stopTracing()
      await Promise.allSettled([processor.shutdown()])
    },
  }
}

const MS_PER_SECOND = 1000

/** Returns the choice of the traces that begin here. `clock` returns milliseconds. */
export function makeSampler(
  { sampleRatio, maxTracesPerSecond }: Pick<TelemetryOptions, 'sampleRatio' | 'maxTracesPerSecond'>,
  clock = (): number => performance.now(),
): () => boolean {
  let [second, begun] = [0, 0]
  return () => {
    if (Math.random() >= sampleRatio) return false
    const now = Math.floor(clock() / MS_PER_SECOND)
    if (now !== second) [second, begun] = [now, 0]
    begun += 1
    return begun <= maxTracesPerSecond
  }
}

function exporterOptions({ endpoint, headers, ca }: TelemetryOptions, signal: string): OtlpOptions {
  return {
    url: `${endpoint.replace(/\/$/, '')}/v1/${signal}`,
    headers: { ...headers },
    timeoutMillis: EXPORT_TIMEOUT_MS,
    ...(ca !== undefined && { httpAgentOptions: { ca } }),
  }
}

type OtlpOptions = NonNullable<ConstructorParameters<typeof OTLPTraceExporter>[0]>
