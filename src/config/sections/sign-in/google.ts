import { z } from 'zod'

import { key } from '../../values/key.js'
import { secretKey } from '../../values/secret.js'
import { signInUrl } from './sign-in-url.js'

/** Where machines of Google, and pods of GKE, are told who they are; its name, `metadata.google.internal`, would be refused. */
const METADATA_SERVER = 'http://169.254.169.254'

const ServiceAccountFrom = key(
  z.strictObject({
    type: key(z.literal('metadata-server'), 'Who gives tokens.', 'metadata-server'),
    url: signInUrl('Where the metadata server is.').default(METADATA_SERVER),
    account: key(
      z
        .string()
        .regex(/^[\w.@-]{1,200}$/)
        .default('default'),
      'The service account, where it is not the one of the machine.',
      'the email address of a service account',
    ),
  }),
  'That tokens come from the metadata server, in place of a key file: `{type: metadata-server}`; `project` is named then.',
  '{type: metadata-server}',
  { isHidden: true },
)

/** How a source of Google signs in, and what it asks. */
export const google = {
  serviceAccount: secretKey('The key file of a service account, as it was downloaded.').optional(),
  serviceAccountFrom: ServiceAccountFrom.optional(),
  tokenUrl: signInUrl('Where tokens come from, where it is not what the key file says.').optional(),
  project: key(
    z
      .string()
      .regex(/^[a-z0-9:.-]{1,100}$/)
      .optional(),
    'The project that is asked, else that of the service account.',
    'the id or the number of a project',
  ),
}

/** Whether a source of Google has either a key file or a way to tokens and the project that they are for; true of other sources. */
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
