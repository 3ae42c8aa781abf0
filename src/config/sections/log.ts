import { z } from 'zod'

import { key } from '../values/key.js'

const LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const
const FORMATS = ['json', 'text'] as const

/** What the service says of itself on standard error. */
export const LogSection = z.strictObject({
  level: key(
    z.enum(LEVELS).default('info'),
    'The least important line that is written.',
    `one of ${LEVELS.join(', ')}`,
  ),
  format: key(
    z.enum(FORMATS).default('json'),
    'One JSON object per line, or text for people.',
    `one of ${FORMATS.join(', ')}`,
  ),
})
