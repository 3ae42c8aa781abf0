import { expect, test } from 'vitest'
import { z } from 'zod'

import { schemaSentence } from '../../../src/lib/validation/schema-sentence.js'

test.each([
  [z.string().min(1), '', 'must have at least 1 character'],
  [z.string().min(2), '', 'must have at least 2 characters'],
  [z.array(z.string()).max(1), ['a', 'b'], 'must have at most 1 entry'],
  [z.number().min(1), 0, 'must be at least 1'],
])('sizes out of range are reported with their unit: %#', (schema, value, says) => {
  const { error } = schema.safeParse(value, { error: schemaSentence })
  expect(error?.issues.map(({ message }) => message)).toEqual([says])
})
