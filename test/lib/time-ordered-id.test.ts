import { expect, it } from 'vitest'

import { timeOrderedId } from '../../src/lib/time-ordered-id.js'

const VERSION_7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

it('makes UUIDs of version 7 that start with the time', () => {
  const id = timeOrderedId(0x0192_abcd_ef01)
  expect(id).toMatch(VERSION_7)
  expect(id.startsWith('0192abcd-ef01-7')).toBe(true)
})

it('pads early times and drops fractions of a millisecond', () => {
  expect(timeOrderedId(1.9)).toMatch(/^00000000-0001-7/)
})

it('orders ids by their time', () => {
  const times = [1, 255, 256, 1_700_000_000_000, 1_700_000_000_001]
  const ids = times.map((time) => timeOrderedId(time))
  expect(ids.toSorted()).toEqual(ids)
})

it('makes different ids for one millisecond', () => {
  expect(new Set(Array.from({ length: 1000 }, () => timeOrderedId(5))).size).toBe(1000)
})
