import type { Credentials, Secret } from '../../../lib/outbound/credentials.js'

interface Named {
  readonly name: string
}

interface Server extends Named {
  readonly url: string
  readonly credentials?: Credentials | undefined
  readonly timeoutSeconds: number
  readonly maxResponseBytes: number
}

interface Lines {
  readonly maxLines: number
  readonly maxBytes: number
}

interface Fields {
  readonly timeField: string
  readonly messageField: string
}

export interface PrometheusSettings extends Server {
  readonly type: 'prometheus'
  /** Sent as X-Scope-OrgID. */
  readonly tenant?: string | undefined
  readonly maxPoints: number
}

export interface LokiSettings extends Server, Lines {
  readonly type: 'loki'
  readonly tenant?: string | undefined
  readonly maxPoints: number
  /** Loki's own limit is 5000 unless configured (max_entries_limit_per_query). */
  readonly pageLines: number
}

export interface SearchSettings extends Server, Lines, Fields {
  readonly type: 'elasticsearch' | 'opensearch'
  readonly pageLines: number
  readonly index?: string | undefined
}

export interface FileSettings extends Named, Lines, Fields {
  readonly type: 'file'
  /** Files outside of it are never read. */
  readonly directory: string
  readonly maxFileBytes: number
  readonly maxPoints: number
}

interface Metrics extends Server {
  readonly maxPoints: number
}

/** Servers of metrics that need nothing but an address and credentials. */
export interface PointsSettings extends Metrics {
  readonly type: 'graphite' | 'datadog' | 'wavefront' | 'atlas' | 'signalfx' | 'web'
}

export interface InfluxSettings extends Metrics {
  readonly type: 'influxdb'
  readonly database: string
  readonly retentionPolicy?: string | undefined
}

export interface NewRelicSettings extends Metrics {
  readonly type: 'newrelic'
  readonly account: number
}

export interface CloudWatchSettings extends Metrics {
  readonly type: 'cloudwatch'
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: Secret
  readonly sessionToken?: Secret | undefined
}

/** A source, complete and checked, its secrets read. */
export type SourceSettings =
  | PrometheusSettings
  | LokiSettings
  | SearchSettings
  | FileSettings
  | PointsSettings
  | InfluxSettings
  | NewRelicSettings
  | CloudWatchSettings
