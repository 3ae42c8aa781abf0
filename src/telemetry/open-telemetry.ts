import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { setGlobalErrorHandler } from '@opentelemetry/core'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { resourceFromAttributes } from '@opentelemetry/resources'
import type { Resource } from '@opentelemetry/resources'
import { PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import {
  AlwaysOffSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'

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
  const provider = openTraces(options, resource)
  const contexts = new AsyncLocalStorageContextManager().enable()
  const spans = new Spans(provider.getTracer('tidegate', options.version), contexts)
  const stopTracing = traceSentRequests(spans)
  let reader: PeriodicExportingMetricReader | undefined
  return {
    inSpan: (name, attributes, work) => spans.inSpan(name, attributes, work),
    traceRequest: (request, answer) => spans.traceRequest(request, answer),
    exportMetrics: (collect) => {
      if (!options.signals.includes('metrics')) return
      reader = new PeriodicExportingMetricReader({
        exporter: new OTLPMetricExporter(exporterOptions(options, 'metrics')),
        exportIntervalMillis: options.intervalMs,
        exportTimeoutMillis: Math.min(EXPORT_TIMEOUT_MS, options.intervalMs),
      })
      reader.setMetricProducer(new MetricProducer(resource, collect, startMs))
    },
    close: async () => {
      stopTracing()
      await Promise.allSettled([provider.shutdown(), reader?.shutdown({ timeoutMillis: EXPORT_TIMEOUT_MS })])
      contexts.disable()
    },
  }
}

function openTraces(options: TelemetryOptions, resource: Resource): TracerProvider {
  if (!options.signals.includes('traces')) return new TracerProvider({ sampler: new AlwaysOffSampler() })
  const exporter = new OTLPTraceExporter(exporterOptions(options, 'traces'))
  return new TracerProvider({
    resource,
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(options.sampleRatio) }),
    spanProcessors: [new BatchSpanProcessor({ exporter, exportTimeoutMillis: EXPORT_TIMEOUT_MS })],
  })
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
