import { z } from 'zod'

import { CredentialsSchema } from '../values/credentials.js'
import { key, wholeNumberKey } from '../values/key.js'
import { isServerUrl, SERVER_URL_TEXT } from '../values/server-url.js'
import { file } from './sign-in/server-access.js'

const SIGNALS = ['traces', 'metrics'] as const
const MAX_SECONDS = 3600
const MAX_TRACES = 1_000_000

export const TelemetrySection = z.strictObject({
  endpoint: key(
    z.string().refine(isServerUrl).optional(),
    'Address of an OpenTelemetry collector (OTLP over HTTP, Protobuf), to which `/v1/traces` and `/v1/metrics` are appended. Without it, nothing is sent.',
    SERVER_URL_TEXT,
  ),
  signals: key(
    z.array(key(z.enum(SIGNALS), 'A signal.', SIGNALS.join(', '))).default([...SIGNALS]),
    'The signals that are sent. Decisions are sent by `decisions.sinks`.',
    `a list of ${SIGNALS.join(', ')}`,
  ),
  sampleRatio: key(
    z.number().min(0).max(1).default(1),
    'Share of the requests that are traced. The sampling of a caller who sends `traceparent` prevails.',
    'a number from 0 to 1',
  ),
  maxTracesPerSecond: wholeNumberKey(
    { min: 1, max: MAX_TRACES, default: 100 },
    'Largest number of traces that begin here in a second, for each process. More requests are answered without one.',
  ),
  intervalSeconds: wholeNumberKey(
    { min: 1, max: MAX_SECONDS, default: 60 },
    'Time between two uploads of metrics, in seconds.',
  ),
  serviceName: key(z.string().min(1).default('tidegate'), 'The name of the service.', 'a name'),
  credentials: CredentialsSchema.optional(),
  tlsCa: file('Trusted authorities (PEM) of the collector, in place of those of Node.js.'),
})
