import { chmodSync } from 'node:fs'

import { expect, onTestFinished, test } from 'vitest'

import { writableByOthers } from '../../src/main/start-service.js'
import { makeWorkspace } from '../support/workspace.js'

test.skipIf(process.platform === 'win32').each([
  [0o700, false],
  [0o755, false],
  [0o2770, false],
  [0o777, true],
  [0o1777, true],
  [0o2777, true],
  [0o702, true],
])('a data directory of mode %o is warned of: %s', (mode, isWarned) => {
  const { path, remove } = makeWorkspace({})
  onTestFinished(remove)
  chmodSync(path, mode)
  expect(writableByOthers(path)?.includes(`chmod o-w ${path}`) ?? false).toBe(isWarned)
})
