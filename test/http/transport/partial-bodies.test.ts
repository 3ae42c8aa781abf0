import { expect, test } from 'vitest'

import { PartialBodies } from '../../../src/http/transport/partial-bodies.js'
import type { BodyReceiver } from '../../../src/http/transport/partial-bodies.js'

test('beyond the bound the body that began first is given up, be it the one that grows', () => {
  const bodies = new PartialBodies(0, 100)
  const given: string[] = []
  const named = (name: string): BodyReceiver => ({ giveUp: () => void given.push(name) })
  const [first, second, third] = [named('first'), named('second'), named('third')]
  bodies.hold(first, 60)
  bodies.hold(second, 60)
  expect(given).toEqual(['first'])
  expect(bodies.total).toBe(60)
  bodies.hold(third, 40)
  bodies.hold(second, 10)
  expect(given).toEqual(['first', 'second'])
  for (const each of [first, second, third]) bodies.release(each)
  expect(bodies.total).toBe(0)
})
