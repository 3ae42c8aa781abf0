import { createServer } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

import protobuf from 'protobufjs'

/** The parts of opentelemetry-proto 1.x that the tests read. */
const PROTO = `
syntax = "proto3";
message AnyValue { oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4; } }
message KeyValue { string key = 1; AnyValue value = 2; }
message Resource { repeated KeyValue attributes = 1; }
message Status { string message = 2; int32 code = 3; }
message Span {
  bytes trace_id = 1; bytes span_id = 2; bytes parent_span_id = 4; string name = 5; int32 kind = 6;
  repeated KeyValue attributes = 9; Status status = 15;
}
message ScopeSpans { repeated Span spans = 2; }
message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
message Traces { repeated ResourceSpans resource_spans = 1; }
message NumberDataPoint { double as_double = 4; sfixed64 as_int = 6; repeated KeyValue attributes = 7; }
message HistogramDataPoint {
  fixed64 count = 4; double sum = 5; repeated fixed64 bucket_counts = 6; repeated double explicit_bounds = 7;
  repeated KeyValue attributes = 9;
}
message Gauge { repeated NumberDataPoint data_points = 1; }
message Sum { repeated NumberDataPoint data_points = 1; int32 aggregation_temporality = 2; bool is_monotonic = 3; }
message Histogram { repeated HistogramDataPoint data_points = 1; int32 aggregation_temporality = 2; }
message Metric { string name = 1; string description = 2; Gauge gauge = 5; Sum sum = 7; Histogram histogram = 9; }
message ScopeMetrics { repeated Metric metrics = 2; }
message ResourceMetrics { Resource resource = 1; repeated ScopeMetrics scope_metrics = 2; }
message Metrics { repeated ResourceMetrics resource_metrics = 1; }
`
const { root } = protobuf.parse(PROTO)

interface KeyValue {
  readonly key: string
  readonly value: Readonly<Record<string, string | number | boolean>>
}

/** A received span. Ids are hex digits; a root has no parent. */
export interface ReceivedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly name: string
  readonly kind: number
  readonly attributes: Readonly<Record<string, unknown>>
  readonly status: { readonly code?: number } | undefined
  readonly resource: Readonly<Record<string, unknown>>
}

/** A received metric as in opentelemetry-proto, with its values in the member of its kind. */
export type ReceivedMetric = Readonly<Record<string, unknown>> & { readonly name: string }

/** A collector of OTLP over HTTP (Protobuf) on a free loopback port. */
export interface Collector {
  readonly url: string
  readonly spans: readonly ReceivedSpan[]
  /** The metrics of the latest upload. */
  readonly metrics: () => readonly ReceivedMetric[]
  readonly headers: readonly IncomingHttpHeaders[]
  /** Responds to later uploads with this status, and never if it is undefined. */
  respond(status: number | undefined): void
  readonly close: () => Promise<void>
}

export async function startCollector(): Promise<Collector> {
  const spans: ReceivedSpan[] = []
  let metrics: readonly ReceivedMetric[] = []
  const headers: IncomingHttpHeaders[] = []
  let status: number | undefined = 200
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      headers.push(request.headers)
      if (status === undefined) return
      const body = Buffer.concat(chunks)
      if (status === 200 && request.url === '/v1/traces') spans.push(...readSpans(body))
      if (status === 200 && request.url === '/v1/metrics') metrics = readMetrics(body)
      response.writeHead(status, { 'Content-Type': 'application/x-protobuf' }).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    metrics: () => metrics,
    headers,
    respond: (next) => {
      status = next
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function decode(type: string, body: Buffer): Record<string, unknown> {
  const message = root.lookupType(type)
  return message.toObject(message.decode(body), { longs: Number, bytes: Buffer })
}

interface SentSpan extends Omit<ReceivedSpan, 'traceId' | 'spanId' | 'parentSpanId' | 'attributes'> {
  readonly traceId: Buffer
  readonly spanId: Buffer
  readonly parentSpanId?: Buffer
  readonly attributes?: readonly KeyValue[]
}

function readSpans(body: Buffer): ReceivedSpan[] {
  const { resourceSpans = [] } = decode('Traces', body) as {
    resourceSpans?: readonly {
      readonly resource: { readonly attributes: readonly KeyValue[] }
      readonly scopeSpans: readonly { readonly spans: readonly SentSpan[] }[]
    }[]
  }
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans
      .flatMap(({ spans }) => spans)
      .map((span) => ({
        ...span,
        traceId: span.traceId.toString('hex'),
        spanId: span.spanId.toString('hex'),
        parentSpanId: span.parentSpanId?.toString('hex'),
        attributes: attributesOf(span.attributes),
        resource: attributesOf(resource.attributes),
        status: span.status,
      })),
  )
}

function readMetrics(body: Buffer): ReceivedMetric[] {
  const { resourceMetrics = [] } = decode('Metrics', body) as {
    resourceMetrics?: readonly {
      readonly scopeMetrics: readonly { readonly metrics: readonly ReceivedMetric[] }[]
    }[]
  }
  return resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics))
}

export function attributesOf(attributes: readonly KeyValue[] = []): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))
}
