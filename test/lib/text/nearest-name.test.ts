import { describe, expect, test } from 'vitest'

import { nearestName } from '../../../src/lib/text/nearest-name.js'

describe('the nearest name', () => {
  test.each([
    ['sevre', 'serve'],
    ['SERVE', 'serve'],
    ['chekc', 'check'],
    ['tset', 'test'],
    ['serv', 'serve'],
    ['deploy', undefined],
    ['x', undefined],
    ['', undefined],
  ])('to %j is %j', (written, nearest) => {
    expect(nearestName(written, ['serve', 'check', 'test'])).toBe(nearest)
  })
})
