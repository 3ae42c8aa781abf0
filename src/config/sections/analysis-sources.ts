import { z } from 'zod'

import type { Credentials, Secret } from '../../lib/outbound/credentials.js'
import { aws, readAwsAccess } from './sign-in/aws.js'
import type { AwsAccess } from './sign-in/aws.js'
import { AzureSignInSchema, readAzureSignIn } from './sign-in/azure.js'
import type { AzureSignIn } from './sign-in/azure.js'
import { google } from './sign-in/google.js'
import { byteSizeKey } from '../values/byte-size.js'
import { CredentialsSchema, readCredentials } from '../values/credentials.js'
import { key, wholeNumber, wholeNumberKey } from '../values/key.js'
import type { ReadSecret } from '../values/secret.js'
import { isServerUrl, SERVER_URL_TEXT } from '../values/server-url.js'

const KIB = 1024
const MIB = 1024 * KIB
const MAX_BYTES = 256 * MIB
const MAX_SECONDS = 600
const MAX_POINTS = 1_000_000
const MAX_LINES = 5_000_000
/** Elasticsearch's index.max_result_window. */
const MAX_PAGE_LINES = 10_000

/** The supported sources of metrics and log lines. */
export const SOURCE_TYPES = [
  'prometheus',
  'loki',
  'elasticsearch',
  'opensearch',
  'graphite',
  'influxdb',
  'datadog',
  'newrelic',
  'cloudwatch',
  'cloudwatchlogs',
  'azure',
  'stackdriver',
  'splunk',
  'signalfx',
  'wavefront',
  'atlas',
  'web',
  'file',
] as const

const TYPES = `one of ${SOURCE_TYPES.join(', ')}`
const type = <T extends z.ZodType>(schema: T): T => key(schema, 'The type of the source.', TYPES)

const named = {
  name: key(
    z.string().regex(/^\S(?:.{0,98}\S)?$/),
    'Name of the source in templates and reports.',
    'a name of 1 to 100 characters that neither starts nor ends with a space',
  ),
}

const serverWithoutCredentials = {
  url: key(
    z.string().refine(isServerUrl),
    'URL of the server. A path before its API is kept.',
    SERVER_URL_TEXT,
    { isHidden: true },
  ),
  timeoutSeconds: wholeNumberKey(
    { min: 1, max: MAX_SECONDS, default: 30 },
    'How long one request may take, in seconds.',
  ),
  maxResponseBytes: byteSizeKey(
    { min: 64 * KIB, max: MAX_BYTES, default: 16 * MIB },
    'Maximum size of one response.',
  ),
}

const server = { ...serverWithoutCredentials, credentials: CredentialsSchema.optional() }

const tenant = {
  tenant: key(
    z
      .string()
      .regex(/^[!-~]{1,512}$/)
      .optional(),
    'The tenant, sent as X-Scope-OrgID. Several Loki tenants are joined by "|".',
    'a text of visible ASCII characters without spaces',
  ),
}

const points = {
  maxPoints: wholeNumberKey(
    { min: 1, max: MAX_POINTS, default: 50_000 },
    'Maximum number of steps read per window. The rest is reported as omitted.',
  ),
}

const lines = {
  maxLines: wholeNumberKey(
    { min: 1, max: MAX_LINES, default: 200_000 },
    'Maximum number of log lines read per window. The rest is reported as omitted.',
  ),
  maxBytes: byteSizeKey(
    { min: 64 * KIB, max: MAX_BYTES, default: 32 * MIB },
    'Maximum bytes of log lines read per window. The rest is reported as omitted.',
  ),
}

const pages = {
  pageLines: wholeNumberKey(
    { min: 2, max: MAX_PAGE_LINES, default: 5000 },
    'Number of log lines per request.',
  ),
}

const fields = {
  timeField: key(
    z.string().min(1).default('@timestamp'),
    'The field of a document with its time.',
    'the name of a field',
  ),
  messageField: key(
    z.string().min(1).default('message'),
    'The field of a document with its text, unless a log template names another.',
    'the name of a field',
  ),
}

/** The part of a log server to search. */
function indexKey(what: string, allowed: string): { index: z.ZodOptional<z.ZodString> } {
  return {
    index: key(
      z.string().min(1).optional(),
      `${what} to search, unless a log template names another.`,
      allowed,
    ),
  }
}

/** One source of metrics, of log lines, or of both. */
export const AnalysisSource = z.discriminatedUnion('type', [
  z.strictObject({ ...named, type: type(z.literal('prometheus')), ...server, ...tenant, ...points }),
  z.strictObject({
    ...named,
    type: type(z.literal('loki')),
    ...server,
    ...tenant,
    ...points,
    ...lines,
    ...pages,
  }),
  z.strictObject({
    ...named,
    type: type(z.enum(['elasticsearch', 'opensearch'])),
    ...server,
    ...lines,
    ...pages,
    ...fields,
    ...indexKey('The index, alias or pattern', 'the name or pattern of an index'),
  }),
  z.strictObject({
    ...named,
    type: type(z.enum(['graphite', 'signalfx', 'wavefront', 'atlas', 'web'])),
    ...server,
    ...points,
  }),
  z.strictObject({
    ...named,
    type: type(z.literal('datadog')),
    ...server,
    ...points,
    ...lines,
    ...pages,
    ...indexKey('The index of logs, else all of them,', 'the name of an index'),
  }),
  z.strictObject({
    ...named,
    type: type(z.literal('splunk')),
    ...server,
    ...lines,
    ...indexKey('The index', 'the name of an index'),
  }),
  z.strictObject({
    ...named,
    type: type(z.literal('cloudwatchlogs')),
    ...serverWithoutCredentials,
    ...lines,
    ...pages,
    ...aws,
    ...indexKey('The log group', 'the name or the ARN of a log group'),
  }),
  z.strictObject({
    ...named,
    type: type(z.literal('azure')),
    ...serverWithoutCredentials,
    ...points,
    signIn: AzureSignInSchema,
  }),
  z.strictObject({
    ...named,
    type: type(z.literal('stackdriver')),
    ...serverWithoutCredentials,
    ...points,
    ...google,
  }),
  z.strictObject({
    ...named,
    type: type(z.literal('influxdb')),
    ...server,
    ...points,
    database: key(z.string().min(1), 'The database to query.', 'the name of a database'),
    retentionPolicy: key(
      z.string().min(1).optional(),
      'The retention policy to query. Defaults to that of the database.',
      'the name of a retention policy',
    ),
  }),
  z.strictObject({
    ...named,
    type: type(z.literal('newrelic')),
    ...server,
    ...points,
    account: key(
      wholeNumber(1, Number.MAX_SAFE_INTEGER),
      'The number of the account to query.',
      'the number of an account',
    ),
  }),
  z.strictObject({
    ...named,
    type: type(z.literal('cloudwatch')),
    ...serverWithoutCredentials,
    ...points,
    ...aws,
  }),
  z.strictObject({
    ...named,
    type: type(z.literal('file')),
    directory: key(
      z.string().min(1),
      'The directory of the files. Paths outside it are refused.',
      'the path of a directory',
    ),
    maxFileBytes: byteSizeKey(
      { min: KIB, max: MAX_BYTES, default: 16 * MIB },
      'Maximum size of a metrics file.',
    ),
    ...points,
    ...lines,
    ...fields,
  }),
])

type AnalysisSourceConfig = z.output<typeof AnalysisSource>

interface Secrets {
  readonly credentials: Credentials | undefined
  readonly serviceAccount: Secret | undefined
}
type OfAmazon = 'cloudwatch' | 'cloudwatchlogs'
type WithSecrets<T> = T extends { readonly type: OfAmazon }
  ? Omit<T, keyof AwsAccess> & AwsAccess
  : T extends { readonly type: 'azure' }
    ? Omit<T, 'signIn'> & { readonly signIn: AzureSignIn }
    : Omit<T, keyof Secrets> & Pick<Secrets, keyof Secrets & keyof T>

/** Returns the sources with their secrets. Throws as `readSecret`. */
export function readSourceCredentials(
  sources: readonly Readonly<AnalysisSourceConfig>[],
  readSecret: ReadSecret,
): WithSecrets<AnalysisSourceConfig>[] {
  return sources.map((source) => {
    switch (source.type) {
      case 'file':
        return source
      case 'azure':
        return { ...source, signIn: readAzureSignIn(source.signIn, readSecret) }
      case 'stackdriver':
        return { ...source, serviceAccount: source.serviceAccount && readSecret(source.serviceAccount) }
      case 'cloudwatchlogs':
      case 'cloudwatch':
        return { ...source, ...readAwsAccess(source, readSecret) }
      default:
        return { ...source, credentials: readCredentials(source.credentials, readSecret) }
    }
  })
}
