import { z } from 'zod'

import { key } from '../values/key.js'
import { secretKey } from '../values/secret.js'

/** When somebody is told of an analysis. */
export const NOTIFIED_EVENTS = ['fail', 'review', 'noAnswer', 'end'] as const

/** Who is told of analyses, and when. */
export const AnalysisNotification = z.strictObject({
  url: secretKey('Where messages are sent; a secret, since whoever knows the URL of a chat can write to it.'),
  on: key(
    z.array(z.enum(NOTIFIED_EVENTS)).min(1).readonly().default(['fail', 'review', 'noAnswer']),
    'What is told: that an interval fails, that it shows something people are to look at, that nothing is known since nobody answers, that the run has ended.',
    `a list of ${NOTIFIED_EVENTS.join(', ')}`,
  ),
  applications: key(
    z.array(z.string().min(1)).min(1).readonly().optional(),
    'Of which applications; of all where nothing is said.',
    'a list of names of applications',
  ),
})

/** Who is told, as the configuration has it. */
export type AnalysisNotificationConfig = z.output<typeof AnalysisNotification>
