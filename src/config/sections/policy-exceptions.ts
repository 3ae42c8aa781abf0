import { z } from 'zod'

import { booleanKey, wholeNumberKey } from '../values/key.js'

const MAX_DAYS = 3650

/** Exceptions from policies. */
export const PolicyExceptions = z.strictObject({
  approval: booleanKey(
    false,
    'Whether an exception takes effect only when a second person with the role `approver` has approved it. The role `author` may then add exceptions; otherwise only `approver`.',
  ),
  maxDays: wholeNumberKey(
    { min: 1, max: MAX_DAYS, default: 90 },
    'Longest time from now to the end of a new exception, in days.',
  ),
  noticeDays: wholeNumberKey(
    { min: 1, max: MAX_DAYS, default: 7 },
    'Days before the end of an exception at which the trail and the log get a record of it.',
  ),
})
