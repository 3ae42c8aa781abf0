import { z } from 'zod'

import { key, wholeNumberKey } from '../values/key.js'
import { isServerUrl, SERVER_URL_TEXT } from '../values/server-url.js'
import { serverAccess } from './sign-in/server-access.js'

const MAX_SECONDS = 3600

/** Where this instance reports its status. */
export const StatusSection = z.strictObject({
  url: key(
    z.string().refine(isServerUrl).optional(),
    "The service to which this instance uploads its status, to `URL/status` as OPA does: another Tidegate, or a service that accepts OPA's status. With PostgreSQL, the services that share a database know each other without it.",
    SERVER_URL_TEXT,
    { isHidden: true },
  ),
  intervalSeconds: wholeNumberKey(
    { min: 1, max: MAX_SECONDS, default: 10 },
    'Time between two reports, in seconds.',
  ),
  timeoutSeconds: wholeNumberKey({ min: 1, max: 600, default: 10 }, 'Time limit of a report, in seconds.'),
  labels: key(
    z.record(z.string(), z.string()).default({}),
    'Labels of this instance in reports, in addition to `id` and `version`.',
    'texts by name',
  ),
  ...serverAccess,
})
