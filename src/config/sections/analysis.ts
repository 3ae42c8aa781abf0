import { z } from 'zod'
import { AnalysisSource, SOURCE_TYPES } from './analysis-sources.js'
import { booleanKey, key, wholeNumberKey } from '../values/key.js'
import { secretKey } from '../values/secret.js'

/** Events of an analysis that trigger a notification. */
const NOTIFIED_EVENTS = ['fail', 'review', 'noAnswer', 'end'] as const

/** A receiver of notifications about analyses. */
const AnalysisNotification = z.strictObject({
  url: secretKey(
    'URL that receives the messages. It is a secret, because anyone who knows the URL of a chat can post to it.',
  ),
  on: key(
    z.array(z.enum(NOTIFIED_EVENTS)).min(1).readonly().default(['fail', 'review', 'noAnswer']),
    'Events to report: an interval fails, an interval needs review, sources do not answer, the run ends.',
    `a list of ${NOTIFIED_EVENTS.join(', ')}`,
  ),
  applications: key(
    z.array(z.string().min(1)).min(1).readonly().optional(),
    'The applications to report. All by default.',
    'a list of names of applications',
  ),
})

const MAX_CONCURRENT = 64
const MAX_DAYS = 36_500
const MAX_RECEIVERS = 20

export const AnalysisSection = z.strictObject({
  sources: key(
    z.array(AnalysisSource).default([]),
    `Sources of metrics and log lines, each \`{name, type}\` with a \`url\` (for type file a \`directory\`) and, where needed, \`credentials\`, \`tenant\` (X-Scope-OrgID of Prometheus and Loki), \`index\`, \`timeField\` (@timestamp) and \`messageField\` (message) of documents, \`database\` and \`retentionPolicy\` of InfluxDB, \`account\` of New Relic, \`region\`, \`accessKeyId\`, \`secretAccessKey\` and \`sessionToken\`, or \`accessKeyFrom\`, of CloudWatch and CloudWatch Logs, \`signIn\` of Azure, \`serviceAccount\`, or \`serviceAccountFrom\`, \`tokenUrl\` and \`project\` of Stackdriver, \`timeoutSeconds\` (30), \`maxResponseBytes\` (16 MiB), \`maxPoints\` (50000), \`maxLines\` (200000), \`maxBytes\` (32 MiB), \`pageLines\` (5000), \`maxFileBytes\` (16 MiB); the type is one of ${SOURCE_TYPES.join(', ')}. Credentials are like those of \`connectors.accounts\`.`,
    'a list of {name, type, url} or {name, type: file, directory}',
  ),
  definitions: key(
    z.string().min(1).optional(),
    'A directory with an analysis definition for each application, `<application>.yaml` or `.json`. Definitions can also be sent over HTTP.',
    'the path of a directory',
  ),
  concurrentIntervals: wholeNumberKey(
    { min: 1, max: MAX_CONCURRENT, default: 4 },
    'Number of intervals that are judged at a time, at most half of them (rounded up) of one application. Each may take 1 GiB of memory.',
  ),
  maxAgeDays: wholeNumberKey(
    { min: 1, max: MAX_DAYS, default: 90 },
    'How long the data and reports of an analysis are kept after its end, in days. Its verdict is kept permanently.',
  ),
  reportLinkDays: wholeNumberKey(
    { min: 1, max: MAX_DAYS, default: 30 },
    'How long the link to a report (`canaryReportURL`) works without a token, in days, until the end of the day in UTC. Each status of the analysis contains a new link.',
  ),
  notifications: key(
    z.array(AnalysisNotification).max(MAX_RECEIVERS).readonly().default([]),
    `Receivers of notifications about a run: a list of \`{url}\`, where the URL is a secret (\`{env: NAME}\` or \`{file: PATH}\`), with \`on\` (which of ${NOTIFIED_EVENTS.join(', ')}; all but end) and \`applications\` (all) where needed. Each event of a run is sent once and signed like a callback.`,
    'a list of {url, on, applications}, where url is {env: NAME} or {file: PATH}',
  ),
  allowLoopback: booleanKey(true, 'Whether sources may be on this machine (127.0.0.0/8, ::1).'),
  allowPrivate: booleanKey(
    true,
    'Whether sources may be in private networks. Link-local and metadata addresses are refused, except those that `accessKeyFrom` and `signIn` name.',
  ),
})
