import { expect, test } from 'vitest'

import { isRemoved, isRemovedVariable } from '../../src/config/former-names.js'
import { loadConfig } from '../../src/config/load-config.js'

test('a key of an earlier release that has no effect any more is accepted', () => {
  const value = { path: ['server', 'fastLane'], value: false, origin: 'tidegate.yaml' }
  expect(isRemoved(value)).toBe(true)
  expect(isRemovedVariable('TIDEGATE_SERVER_FAST_LANE')).toBe(true)
  const { server } = loadConfig({ env: { TIDEGATE_SERVER_FAST_LANE: 'false' }, flags: [value] })
  expect(server).not.toHaveProperty('fastLane')
})
