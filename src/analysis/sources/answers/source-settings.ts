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

interface PagedLines extends Server, Lines {
  readonly pageLines: number
}

/** An access key of Amazon's. */
export interface AwsKeys {
  readonly accessKeyId: string
  readonly secretAccessKey: Secret
  readonly sessionToken?: Secret | undefined
}

/** The source of a temporary access key. */
export type AwsKeysFrom =
  | { readonly type: 'instance-role'; readonly url: string; readonly role?: string | undefined }
  | { readonly type: 'container-role'; readonly url: string; readonly token?: Secret | undefined }
  | {
      readonly type: 'web-identity'
      readonly url: string
      readonly roleArn: string
      readonly token: Secret
      readonly sessionName: string
    }

/** An access key of Amazon's, or its source, and the region of its use. */
export interface AwsAccess {
  readonly region: string
  readonly accessKeyId?: string | undefined
  readonly secretAccessKey?: Secret | undefined
  readonly sessionToken?: Secret | undefined
  readonly accessKeyFrom?: AwsKeysFrom | undefined
}

/** Servers of metrics that need nothing but an address and credentials. */
export interface PointsSettings extends Metrics {
  readonly type: 'graphite' | 'wavefront' | 'atlas' | 'signalfx' | 'web'
}

export interface DatadogSettings extends Metrics, PagedLines {
  readonly type: 'datadog'
  /** The searched index of logs; all by default. */
  readonly index?: string | undefined
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

export interface CloudWatchSettings extends Metrics, AwsAccess {
  readonly type: 'cloudwatch'
}

export interface CloudWatchLogsSettings extends PagedLines, AwsAccess {
  readonly type: 'cloudwatchlogs'
  /** The searched log group, unless a log template names another. */
  readonly index?: string | undefined
}

export interface SplunkSettings extends Server, Lines {
  readonly type: 'splunk'
  /** The searched index, unless a log template or the query names another. */
  readonly index?: string | undefined
}

/** How a source of Azure gets its tokens. */
export type AzureSignIn =
  | {
      readonly type: 'client-secret'
      readonly tenantId: string
      readonly clientId: string
      readonly clientSecret: Secret
      readonly loginUrl: string
      /** The audience of the token, if it is not the origin of the source's url. */
      readonly audience?: string | undefined
    }
  | {
      readonly type: 'workload-identity'
      readonly tenantId: string
      readonly clientId: string
      /** Token of a service account, which the directory accepts as the client's. */
      readonly token: Secret
      readonly loginUrl: string
      readonly audience?: string | undefined
    }
  | {
      readonly type: 'managed-identity'
      readonly url: string
      readonly clientId?: string | undefined
      readonly header?: Secret | undefined
      readonly audience?: string | undefined
    }

export interface AzureSettings extends Metrics {
  readonly type: 'azure'
  readonly signIn: AzureSignIn
}

/** The metadata server, and the service account that it gives tokens of. */
export interface GoogleIdentity {
  readonly type: 'metadata-server'
  readonly url: string
  readonly account: string
}

export interface StackdriverSettings extends Metrics {
  readonly type: 'stackdriver'
  /** The key file of a service account, as it was downloaded, */
  readonly serviceAccount?: Secret | undefined
  /** or the source of its tokens. */
  readonly serviceAccountFrom?: GoogleIdentity | undefined
  /** URL of the token server, if it is not that of the key file. */
  readonly tokenUrl?: string | undefined
  /** The queried project; that of the service account by default. */
  readonly project?: string | undefined
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
  | CloudWatchLogsSettings
  | DatadogSettings
  | SplunkSettings
  | AzureSettings
  | StackdriverSettings
