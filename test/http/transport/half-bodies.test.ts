import { expect, test } from 'vitest'

import { HalfBodies } from '../../../src/http/transport/half-bodies.js'
import type { BodyReceiver } from '../../../src/http/transport/half-bodies.js'

test('a body of which nothing has come yet is not given up for others: it holds nothing', () => {
  const bodies = new HalfBodies(0, 100)
  const given: string[] = []
  const named = (name: string): BodyReceiver => ({ giveUp: (reason) => given.push(`${name}: ${reason}`) })
  const [waiting, first, second] = [named('waiting'), named('first'), named('second')]
  bodies.hold(waiting, 0)
  bodies.hold(first, 60)
  bodies.hold(second, 60)
  expect(given).toEqual(['first: no_room'])
  expect(bodies.total).toBe(60)
  bodies.hold(waiting, 50)
  expect(given).toEqual(['first: no_room', 'waiting: no_room'])
  for (const each of [waiting, first, second]) bodies.release(each)
  expect(bodies.total).toBe(0)
})
