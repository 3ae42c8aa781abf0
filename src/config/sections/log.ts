import { z } from 'zod'

import { key } from '../values/key.js'

const LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const
const FORMATS = ['json', 'text'] as const

export const LogSection = z.strictObject({
  level: key(
    z.enum(LEVELS).default('info'),
    'The lowest level that is written.',
    `one of ${LEVELS.join(', ')}`,
  ),
  format: key(
    z.enum(FORMATS).default('json'),
    'Format of a line: a JSON object, or text for people.',
    `one of ${FORMATS.join(', ')}`,
  ),
})
