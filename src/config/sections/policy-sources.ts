import { z } from 'zod'

import { booleanKey, key, wholeNumberKey } from '../values/key.js'
import { isServerUrl, SERVER_URL_TEXT } from '../values/server-url.js'
import { file, serverAccess } from './sign-in/server-access.js'

const MAX_DELAY_SECONDS = 86_400
const MAX_LONG_POLL_SECONDS = 600
const MAX_STALE_SECONDS = 30 * 86_400

const SOURCE_TYPES = 'one of http, oci, git'
const sourceType = <T extends string>(name: T): z.ZodLiteral<T> =>
  key(z.literal(name), 'The kind of server.', SOURCE_TYPES)
const common = {
  timeoutSeconds: wholeNumberKey(
    { min: 1, max: MAX_LONG_POLL_SECONDS, default: 60 },
    'Time limit of a request without the wait of a long poll, in seconds.',
  ),
  name: key(
    z.string().regex(/^\w[\w./-]{0,99}$/),
    'The name of the source in answers, metrics and logs.',
    'up to 100 letters, digits, dots, dashes and slashes',
  ),
  minDelaySeconds: wholeNumberKey(
    { min: 1, max: MAX_DELAY_SECONDS, default: 30 },
    'Shortest time between two requests, in seconds.',
  ),
  maxDelaySeconds: wholeNumberKey(
    { min: 1, max: MAX_DELAY_SECONDS, default: 60 },
    'Longest time between two requests, in seconds; also the longest wait after failures.',
  ),
  staleAfterSeconds: wholeNumberKey(
    { min: 1, max: MAX_STALE_SECONDS, default: 900 },
    'The source is stale after this time without a current bundle that loads, in seconds.',
  ),
  staleIsNotReady: booleanKey(false, 'Whether `/readyz` responds with 503 while the source is stale.'),
  keyId: key(
    z.string().min(1).optional(),
    'The key of `policies.bundleSigning` that must sign the bundle.',
    'the id of one of the keys',
  ),
  scope: key(z.string().optional(), 'The scope that signatures must have.', 'a text'),
  excludeFiles: key(
    z.array(z.string().min(1)).optional(),
    'Files of the bundle that need not be signed.',
    'a list of file patterns',
  ),
}

const Source = z.discriminatedUnion('type', [
  z.strictObject({
    type: sourceType('http'),
    url: key(z.string().refine(isServerUrl), 'The address of the bundle.', SERVER_URL_TEXT, {
      isHidden: true,
    }),
    longPollSeconds: wholeNumberKey(
      { min: 0, max: MAX_LONG_POLL_SECONDS, default: 30 },
      'How long a server with long polling may hold a request, in seconds; 0 turns it off.',
    ),
    ...serverAccess,
    ...common,
  }),
  z.strictObject({
    type: sourceType('oci'),
    url: key(z.string().refine(isServerUrl), 'The registry.', SERVER_URL_TEXT),
    repository: key(
      z.string().regex(/^[a-z\d]+(?:[._/-]+[a-z\d]+)*$/),
      'The repository.',
      'a name such as team/policies',
    ),
    reference: key(
      z
        .string()
        .regex(/^(?:\w[\w.-]{0,127}|sha256:[\da-f]{64})$/)
        .default('latest'),
      'The tag or digest.',
      'a tag, or sha256: and 64 hex digits',
    ),
    tokenServer: key(
      z.string().refine(isServerUrl).optional(),
      'The token server, if it is not at the address of the registry.',
      SERVER_URL_TEXT,
    ),
    credentials: serverAccess.credentials,
    tlsCa: serverAccess.tlsCa,
    tlsCertificate: serverAccess.tlsCertificate,
    tlsKey: serverAccess.tlsKey,
    ...common,
  }),
  z.strictObject({
    type: sourceType('git'),
    url: key(z.string().regex(/^[^-\s]\S*$/), 'The repository.', 'an address that `git fetch` accepts', {
      isHidden: true,
    }),
    ref: key(
      z
        .string()
        .regex(/^[^-\s]\S*$/)
        .default('main'),
      'The branch or tag.',
      'the name of a branch or tag',
    ),
    directory: key(z.string().default(''), 'The folder of the policies.', 'a path in the repository'),
    allowedSigners: file(
      'File of SSH keys that may sign commits (`allowed_signers` of ssh-keygen). A commit without a good signature is refused.',
    ),
    ...common,
  }),
])

/** A source as configured. */
export type PolicySourceConfig = z.output<typeof Source>

/** Servers from which policies are downloaded. */
export const PolicySourcesSection = key(
  z.array(Source).default([]),
  'Where policies are downloaded: `{name, type: http, url}` of an OPA bundle, `{name, type: oci, url, repository, reference}` of an image in a registry (`latest`), or `{name, type: git, url, ref, directory}` of a repository (`main`). Optional are `credentials` as for `connectors.accounts`, or `signIn` (`{type: oauth2, tokenUrl, clientId, clientSecret, scopes}` or `{type: aws, region, service, accessKeyId, secretAccessKey}`); `tlsCa`, `tlsCertificate` and `tlsKey` (files); `timeoutSeconds` (60), `minDelaySeconds` (30), `maxDelaySeconds` (60), `longPollSeconds` (30), `staleAfterSeconds` (900), `staleIsNotReady` (false); `keyId`, `scope` and `excludeFiles` of signatures; `tokenServer` of a registry; `allowedSigners` of commits.',
  'a list of {name, type, url, …}',
  { isHidden: true },
)
