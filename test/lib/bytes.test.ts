import { expect, test } from 'vitest'

import { freeBytes } from '../../src/lib/bytes.js'

test('large bytes are freed where nothing else is in their memory', () => {
  const large = Buffer.alloc(100_000, 'x')
  const part = Buffer.from(new ArrayBuffer(200_000), 0, 100_000)
  const shared = Buffer.from(new SharedArrayBuffer(100_000))
  for (const bytes of [large, part, shared]) freeBytes(bytes)
  expect([large, part, shared].map(({ length }) => length)).toEqual([0, 100_000, 100_000])
})
