import { expect, test } from 'vitest'

import { makeLogger } from '../../src/lib/logger.js'

test.each(['json', 'text'] as const)('a log of %s gives a terminal nothing to act on', (format) => {
  let written = ''
  const logger = makeLogger({ level: 'info', format }, { write: (line) => void (written += line) })
  logger.info({ name: 'a\u009b2K\u202eb' }, 'c\u001b[2K\r\nd\u009de')
  expect(written).toMatch(/^[ -~]*\n$/)
})
