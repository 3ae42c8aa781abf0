import { setImmediate } from 'node:timers/promises'

import { expect, test } from 'vitest'

import { exportTrail } from '../../src/audit/export-trail.js'
import type { Reader } from '../../src/store/ports/readers.js'

const MB = 1_000_000
const CHUNKS = 200

test('the memory that an export takes does not grow with the trail: what was sent is given back meanwhile', async () => {
  let left = CHUNKS
  const chunk = { count: 2000, next: { timeMs: 0, seq: 1 } }
  const run = () => {
    left -= 1
    const lines = new Uint8Array(MB)
    return Promise.resolve(left > 0 ? { ...chunk, lines } : { lines, count: 1 })
  }
  const before = process.memoryUsage().arrayBuffers
  let most = 0
  let sent = 0
  const query = { filter: {}, format: 'ndjson', withBodies: false } as const
  for await (const { byteLength } of exportTrail({ run } as Reader, query)) {
    sent += byteLength
    await setImmediate()
    most = Math.max(most, process.memoryUsage().arrayBuffers - before)
  }
  expect(sent).toBeGreaterThan(CHUNKS * MB)
  expect(most).toBeLessThan(20 * MB)
})
