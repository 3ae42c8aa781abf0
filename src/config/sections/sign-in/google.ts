import { z } from 'zod'

import { key } from '../../values/key.js'
import { secretKey } from '../../values/secret.js'
import { signInUrl } from './sign-in-url.js'

/**
 * Metadata server of Google machines and GKE pods. Its name, `metadata.google.internal`, would be
 * refused.
 */
const METADATA_SERVER = 'http://169.254.169.254'

const ServiceAccountFrom = key(
  z.strictObject({
    type: key(z.literal('metadata-server'), 'The issuer of tokens.', 'metadata-server'),
    url: signInUrl('URL of the metadata server.').default(METADATA_SERVER),
    account: key(
      z
        .string()
        .regex(/^[\w.@-]{1,200}$/)
        .default('default'),
      'The service account. Defaults to that of the machine.',
      'the email address of a service account',
    ),
  }),
  'Obtains tokens from the metadata server, in place of a key file: `{type: metadata-server}`. Requires `project`.',
  '{type: metadata-server}',
  { isHidden: true },
)

/** Sign-in and project of a Google source. */
export const google = {
  serviceAccount: secretKey('The key file of a service account, as it was downloaded.').optional(),
  serviceAccountFrom: ServiceAccountFrom.optional(),
  tokenUrl: signInUrl('URL that issues tokens. Defaults to that of the key file.').optional(),
  project: key(
    z
      .string()
      .regex(/^[a-z0-9:.-]{1,100}$/)
      .optional(),
    'The project to query. Defaults to that of the service account.',
    'the id or the number of a project',
  ),
}

/**
 * Whether a Stackdriver source has either a key file or a token source with a project. True for
 * other types.
 */
export function hasOneAccount(source: {
  readonly type: string
  readonly serviceAccount?: unknown
  readonly serviceAccountFrom?: unknown
  readonly project?: string | undefined
}): boolean {
  if (source.type !== 'stackdriver') return true
  return source.serviceAccountFrom === undefined
    ? source.serviceAccount !== undefined
    : source.serviceAccount === undefined && source.project !== undefined
}
