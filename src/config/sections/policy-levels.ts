import { z } from 'zod'

import { readIsoTime } from '../../lib/clocks/iso-time.js'
import { key } from '../values/key.js'
import { packagePatternKey } from '../values/package-pattern.js'

const MAX_ENTRIES = 1000
const MAX_REASON = 1000

const Entry = z.strictObject({
  package: packagePatternKey('The packages, with those below them.'),
  level: key(z.enum(['enforce', 'warn', 'off']), 'The level.', 'enforce, warn or off'),
  applications: key(
    z.array(z.string().min(1)).min(1).optional(),
    'The applications that it applies to. All by default.',
    'a list of names',
  ),
  until: key(
    z
      .string()
      .refine((text) => /^\d{4}-/.test(text) && Number.isFinite(readIsoTime(text, 'utc')))
      .optional(),
    'Its end, in UTC unless it names another offset. From then on the packages are enforced.',
    'a date such as 2027-01-31 or an ISO 8601 time',
  ),
  reason: key(z.string().max(MAX_REASON).optional(), 'Why, for the reports.', 'a text'),
})

/** The levels of packages. */
export const PolicyLevels = key(
  z.array(Entry).max(MAX_ENTRIES).default([]),
  'How denials of packages count, each `{package, level}` and, where needed, `applications`, `until` and `reason`. `enforce` denies, `warn` makes denials warnings, `off` does not evaluate the package. The first entry that applies counts, then `custom.level` of the package, then `enforce`. After `until` its packages are enforced. See docs/guides/roll-out-a-policy.md.',
  'a list of {package, level, …}',
)
