import { expect, test } from 'vitest'

import { checkReportText } from '../../src/cli/check/check-report.js'
import { makeColours } from '../../src/cli/output/colours.js'

test('a name cannot erase the denial of its pipeline', () => {
  const text = checkReportText(
    [
      {
        file: 'a\u001b[2K.json',
        name: 'x\u001b[1A\u001b[2K\r\nallowed  y\u009b2K\u202e',
        as: 'request',
        allowed: false,
        denials: [{ package: 'p\u001b', text: 'no\u001b[2K\nallowed' }],
        warnings: [{ package: 'q\u001b', text: 'no\u001b[2K\nallowed', kind: 'rule' }],
      },
    ],
    makeColours(false),
  )
  expect(text).not.toMatch(/[^\P{Cc}\n]|[\u202a-\u202e]/u)
  expect(text.split('\n').filter((line) => line.startsWith('allowed'))).toEqual([])
})
