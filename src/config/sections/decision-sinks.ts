import { z } from 'zod'

import { byteSizeKey } from '../values/byte-size.js'
import { key, wholeNumberKey } from '../values/key.js'
import { isServerUrl, SERVER_URL_TEXT } from '../values/server-url.js'
import { serverAccess } from './sign-in/server-access.js'

const KIB = 1024
const MIB = 1024 * KIB
const GIB = 1024 * MIB
const MAX_SECONDS = 86_400

const SINK_TYPES = 'one of opa, file'
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

const Sink = z.discriminatedUnion('type', [
  z.strictObject({
    type: sinkType('opa'),
    url: key(
      z.string().refine(isServerUrl),
      'The address of the service, to which `/logs` is appended.',
      SERVER_URL_TEXT,
      { isHidden: true },
    ),
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
  }),
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
export const DecisionSinksSection = key(
  z.array(Sink).default([]),
  "Receivers of the decision log, each with a position of its own: `{name, type: opa, url}` uploads to `URL/logs` by OPA's protocol, with `credentials`, `signIn`, `tlsCa`, `tlsCertificate` and `tlsKey` as for `policies.sources`, `timeoutSeconds` (30), `minDelaySeconds` (5), `maxDelaySeconds` (300) and `maxUploadBytes` (512 KiB). `{name, type: file, path}` appends JSON lines, with `maxFileBytes` (100 MiB) and `rotatedFiles` (5). `labels` are added to each event.",
  'a list of {name, type: opa, url} or {name, type: file, path}',
  { isHidden: true },
)
