import { z } from 'zod'

import { key } from './key.js'

/** A pattern of packages, with a description of its own each time. */
export function packagePatternKey(description: string): z.ZodString {
  return key(
    z.string().regex(/^[^.\s]+(?:\.[^.\s]+)*$/),
    description,
    'package segments joined by dots, `*` for one segment and `**` for any number: static.**',
  )
}
