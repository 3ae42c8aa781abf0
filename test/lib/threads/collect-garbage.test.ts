import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'

import { collectEverything } from '../../../src/lib/threads/collect-garbage.js'

test('a collection of everything frees what is no longer used', async () => {
  const unused = makeUnused()
  // Until then what was used in this turn is kept.
  await sleep(1)

  collectEverything()

  expect(unused.deref()).toBeUndefined()
})

function makeUnused(): WeakRef<object> {
  return new WeakRef({ large: new Array(1000).fill(0) })
}
