import { z } from 'zod'

import { key } from '../../values/key.js'
import { secretKey } from '../../values/secret.js'
import { signInUrl } from './sign-in-url.js'

/** How a source of Google signs in, and what it asks. */
export const google = {
  serviceAccount: secretKey('The key file of a service account, as it was downloaded.'),
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
