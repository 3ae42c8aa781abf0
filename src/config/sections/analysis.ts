import { z } from 'zod'
import { AnalysisSource, SOURCE_TYPES } from './analysis-sources.js'
import { key, wholeNumber, wholeNumberText } from '../values/key.js'
import { secretKey } from '../values/secret.js'

/** When somebody is told of an analysis. */
const NOTIFIED_EVENTS = ['fail', 'review', 'noAnswer', 'end'] as const

/** Who is told of analyses, and when. */
const AnalysisNotification = z.strictObject({
  url: secretKey('Where messages are sent; a secret, since whoever knows the URL of a chat can write to it.'),
  on: key(
    z.array(z.enum(NOTIFIED_EVENTS)).min(1).readonly().default(['fail', 'review', 'noAnswer']),
    'What is told: that an interval fails, that it shows something people are to look at, that nothing is known since nobody answers, that the run has ended.',
    `a list of ${NOTIFIED_EVENTS.join(', ')}`,
  ),
  applications: key(
    z.array(z.string().min(1)).min(1).readonly().optional(),
    'Of which applications; of all where nothing is said.',
    'a list of names of applications',
  ),
})

const MOST_CONCURRENT = 64
const MAX_DAYS = 36_500
const MOST_RECEIVERS = 20

/** How canaries are analysed. */
export const AnalysisSection = z.strictObject({
  sources: key(
    z.array(AnalysisSource).default([]),
    `Where metrics and log lines come from, each \`{name, type}\` with a \`url\` (for type file a \`directory\`) and, where needed, \`credentials\`, \`tenant\` (X-Scope-OrgID of Prometheus and Loki), \`index\`, \`timeField\` (@timestamp) and \`messageField\` (message) of documents, \`database\` and \`retentionPolicy\` of InfluxDB, \`account\` of New Relic, \`region\`, \`accessKeyId\`, \`secretAccessKey\` and \`sessionToken\`, or \`accessKeyFrom\`, of CloudWatch and CloudWatch Logs, \`signIn\` of Azure, \`serviceAccount\`, or \`serviceAccountFrom\`, \`tokenUrl\` and \`project\` of Stackdriver, \`timeoutSeconds\` (30), \`maxResponseBytes\` (16 MiB), \`maxPoints\` (50000), \`maxLines\` (200000), \`maxBytes\` (32 MiB), \`pageLines\` (5000), \`maxFileBytes\` (16 MiB); the type is one of ${SOURCE_TYPES.join(', ')}. Credentials are as those of \`connectors.accounts\`.`,
    'a list of {name, type, url} or {name, type: file, directory}',
  ),
  definitions: key(
    z.string().min(1).optional(),
    'A directory with a file for each application, `<application>.yaml` or `.json`, that says how it is analysed. Definitions can be given over HTTP too.',
    'the path of a directory',
  ),
  concurrentIntervals: key(
    wholeNumber(1, MOST_CONCURRENT).default(4),
    'How many analyses may have an interval judged at a time, at most half of them (rounded up) of one application. Each may take 1 GiB of memory.',
    wholeNumberText(1, MOST_CONCURRENT),
  ),
  maxAgeDays: key(
    wholeNumber(1, MAX_DAYS).default(90),
    'How many days after its end the data and reports of an analysis stay; its verdict stays for good.',
    wholeNumberText(1, MAX_DAYS),
  ),
  reportLinkDays: key(
    wholeNumber(1, MAX_DAYS).default(30),
    'For how many days the link to a report (`canaryReportURL`) leads to it without a token, to the end of the day in UTC. Each status of the analysis has a fresh one.',
    wholeNumberText(1, MAX_DAYS),
  ),
  notifications: key(
    z.array(AnalysisNotification).max(MOST_RECEIVERS).readonly().default([]),
    `Who is told of a run that goes bad, before it ends: a list of \`{url}\`, where the URL is a secret (\`{env: NAME}\` or \`{file: PATH}\`), with \`on\` (which of ${NOTIFIED_EVENTS.join(', ')}; all but end) and \`applications\` (all) where needed. Each event of a run is told once, signed as callbacks are.`,
    'a list of {url, on, applications}, where url is {env: NAME} or {file: PATH}',
  ),
  allowLoopback: key(
    z.boolean().default(true),
    'Whether sources may be at this machine itself (127.0.0.0/8, ::1).',
    'true or false',
  ),
  allowPrivate: key(
    z.boolean().default(true),
    'Whether sources may be in private networks. Link-local and metadata addresses are never asked, but for the credentials of `accessKeyFrom` and `signIn` where these name them.',
    'true or false',
  ),
})
