import { expect, test } from 'vitest'

import { makeLogger } from '../../src/lib/logger.js'
import { warnOfFewFiles } from '../../src/main/listen.js'

test('a low limit of open files is logged with the required number', () => {
  const lines: string[] = []
  const logger = makeLogger({ level: 'info', format: 'text' }, { write: (line) => void lines.push(line) })
  for (const enough of [166, 1024, Infinity]) warnOfFewFiles(logger, enough)
  expect(lines).toEqual([])
  warnOfFewFiles(logger, 64)
  expect(lines.join('')).toContain('only 64 files open')
  expect(lines.join('')).toContain('allow at least 166')
})
