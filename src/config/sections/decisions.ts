import { z } from 'zod'

import { byteSizeKey } from '../values/byte-size.js'
import { booleanKey, key, wholeNumberKey } from '../values/key.js'
import { isServerUrl, SERVER_URL_TEXT } from '../values/server-url.js'
import { serverAccess } from './sign-in/server-access.js'

const KIB = 1024
const MIB = 1024 * KIB
const GIB = 1024 * MIB
const MAX_SECONDS = 86_400
const SINK_TYPES = 'one of opa, otlp, file'

const sinkType = <T extends string>(name: T): z.ZodLiteral<T> =>
  key(z.literal(name), 'The kind of sink.', SINK_TYPES)

const common = {
  name: key(
    z.string().regex(/^\w[\w./-]{0,99}$/),
    'The name of the sink in metrics and logs. The position of the sink is stored under it.',
    'up to 100 letters, digits, dots, dashes and slashes',
  ),
  labels: key(
    z.record(z.string(), z.string()).default({}),
    'Labels of each event, in addition to `id` and `version`.',
    'texts by name',
  ),
}

const upload = {
  timeoutSeconds: wholeNumberKey({ min: 1, max: 600, default: 30 }, 'Time limit of an upload, in seconds.'),
  minDelaySeconds: wholeNumberKey(
    { min: 1, max: MAX_SECONDS, default: 5 },
    'Time between two uploads, in seconds. A backlog is sent without it.',
  ),
  maxDelaySeconds: wholeNumberKey(
    { min: 1, max: MAX_SECONDS, default: 300 },
    'Longest wait after failures, in seconds.',
  ),
  maxUploadBytes: byteSizeKey(
    { min: 4 * KIB, max: 64 * MIB, default: 512 * KIB },
    'Largest compressed body of an upload.',
  ),
  ...serverAccess,
  ...common,
}
const sinkUrl = (suffix: string) =>
  key(
    z.string().refine(isServerUrl),
    `The address of the service, to which \`${suffix}\` is appended.`,
    SERVER_URL_TEXT,
    { isHidden: true },
  )

const Sink = z.discriminatedUnion('type', [
  z.strictObject({ type: sinkType('opa'), url: sinkUrl('/logs'), ...upload }),
  z.strictObject({ type: sinkType('otlp'), url: sinkUrl('/v1/logs'), ...upload }),
  z.strictObject({
    type: sinkType('file'),
    path: key(z.string().min(1), 'The file.', 'the path of a file'),
    maxFileBytes: byteSizeKey(
      { min: 64 * KIB, max: 1024 * GIB, default: 100 * MIB },
      'Size at which the file is rotated.',
    ),
    rotatedFiles: wholeNumberKey(
      { min: 1, max: 1000, default: 5 },
      'Number of rotated files. `PATH.1` is the newest.',
    ),
    ...common,
  }),
])

/** Receivers of the decision log outside of the service. */
const DecisionSinksSection = key(
  z.array(Sink).default([]),
  "Receivers of the decision log, each with a position of its own: `{name, type: opa, url}` uploads to `URL/logs` by OPA's protocol, and `{name, type: otlp, url}` to `URL/v1/logs` as OpenTelemetry log records (JSON). Both have `credentials`, `signIn`, `tlsCa`, `tlsCertificate` and `tlsKey` as for `policies.sources`, `timeoutSeconds` (30), `minDelaySeconds` (5), `maxDelaySeconds` (300) and `maxUploadBytes` (512 KiB). `{name, type: file, path}` appends JSON lines, with `maxFileBytes` (100 MiB) and `rotatedFiles` (5). `labels` are added to each event.",
  'a list of {name, type: opa, url}, {name, type: otlp, url} or {name, type: file, path}',
  { isHidden: true },
)

const MAX_KEPT_BYTES = 64 * MIB
const MAX_DATABASE_BYTES = 1024 * GIB

const maskPointer = key(
  z.string().regex(/^\/(?:[^~]|~[01])*$/),
  'A mask.',
  'a JSON pointer that starts with "/", in which "~" is written ~0 and "*" stands for every member: /stages/*/secret',
)

const RULE = /^\/?[^/\s]+(?:\/[^/\s]+)*$/

export const DecisionsSection = z.strictObject({
  enabled: booleanKey(true, 'Whether decisions are logged.'),
  maxInputBytes: byteSizeKey(
    { min: 0, max: MAX_KEPT_BYTES, default: 16 * MIB },
    'Number of bytes of an input that are kept, at most a quarter of `decisions.bufferBytes`. The rest is truncated, and the decision cannot be evaluated again. Inputs are compressed, and their equal parts are stored once.',
  ),
  maxResultBytes: byteSizeKey(
    { min: 0, max: MAX_KEPT_BYTES, default: 4096 },
    'Number of bytes of a result that are kept. The rest is truncated.',
  ),
  ndBuiltinCacheBytes: byteSizeKey(
    { min: 0, max: MIB, default: 65_536 },
    'Number of bytes kept of calls to non-deterministic built-ins (`http.send`, `time.now_ns`, `rand.intn`, …), so that a decision can be replayed. If there are more, all are omitted. 0 keeps none.',
  ),
  mask: key(
    z.array(maskPointer).default([]),
    'JSON pointers to input values that are neither logged nor quoted in results. `*` matches every member or element: `/stages/*/secret`.',
    'a list of JSON pointers',
  ),
  maskDecision: key(
    z.string().regex(RULE).default('/system/log/mask'),
    'The rule that masks decisions before they leave the service for a sink, as in OPA: a set of paths such as `/input/password`, or of `{op: remove or upsert, path, value}`. Its input is the event.',
    'the path of a rule, as in /system/log/mask',
  ),
  dropDecision: key(
    z.string().regex(RULE).default('/system/log/drop'),
    'The rule that keeps decisions from sinks where it is true, as in OPA.',
    'the path of a rule, as in /system/log/drop',
  ),
  redact: booleanKey(
    true,
    'Whether apparent secrets are replaced by `[redacted]` in logged inputs, results and errors, by the same rules as in the trail: values with secret names, credentials in URLs, tokens and keys.',
  ),
  bufferRows: wholeNumberKey(
    { min: 1, max: 10_000_000, default: 65_536 },
    'Number of decisions that may wait in memory to be written. Beyond it new ones are dropped and counted.',
  ),
  bufferBytes: byteSizeKey(
    { min: MIB, max: 16 * GIB, default: 64 * MIB },
    'Memory for waiting decisions. Beyond it new ones are dropped and counted.',
  ),
  givesWay: key(
    z
      .array(key(z.enum(['detail', 'allows']), 'A part of decisions.', 'detail, allows'))
      .default(['detail', 'allows']),
    'Data dropped first when the disk is too slow and the buffer fills: `detail` (inputs and results) when it is half full, `allows` (decisions that allow) when it is three quarters full. Both are counted. A full buffer drops every decision.',
    'a list of detail, allows',
  ),
  flushIntervalMs: wholeNumberKey(
    { min: 1, max: 60_000, default: 250 },
    'How long a decision waits to be written together with others, in milliseconds.',
  ),
  maxAgeDays: wholeNumberKey({ min: 1, max: 3650, default: 30 }, 'How long decisions are kept, in days.'),
  maxBytes: byteSizeKey(
    { min: MIB, max: MAX_DATABASE_BYTES, default: 512 * MIB },
    'Maximum size of the decision log file. The oldest decisions are removed first.',
  ),
  maxSourcesBytes: byteSizeKey(
    { min: 0, max: 16 * GIB, default: 64 * MIB },
    'Maximum size of the stored policies and data of revisions that decided, which explain decisions after a change. Equal files are stored once, compressed. Data over a quarter of it is not stored. 0 stores none.',
  ),
  sinks: DecisionSinksSection,
})
