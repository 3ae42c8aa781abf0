import { Agent, request } from 'node:http'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { startRoutesServer } from '../support/routes-server.js'
import type { RoutesServer } from '../support/routes-server.js'

const REQUESTS = 400
const ROUNDS = 4
/** Of a request that is kept whole it is 3 KB and more. */
const KEPT_BYTES = 1500

const agent = new Agent({ keepAlive: true, maxSockets: 4 })
let server: RoutesServer
let collectYoung: () => void

beforeAll(async () => {
  server = await startRoutesServer([], { isQuick: false, keepsFinished: false })
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as (options: { readonly type: 'minor' }) => void
  collectYoung = () => {
    collect({ type: 'minor' })
  }
})

afterAll(async () => {
  agent.destroy()
  await server.stop(0)
})

test('a request that has been answered is forgotten with the next small collections of garbage, and waits for no full one', async () => {
  await sendAll()
  let kept = 0
  for (let round = 0; round < ROUNDS; round++) {
    const before = oldBytes()
    await sendAll()
    // A full collection meanwhile makes it less.
    kept += Math.max(0, oldBytes() - before)
  }
  expect(kept / (ROUNDS * REQUESTS)).toBeLessThan(KEPT_BYTES)
})

/** Sends requests one after another, with collections between them: what survives two is kept for long. */
async function sendAll(): Promise<void> {
  for (let sent = 0; sent < REQUESTS; sent++) {
    await send()
    if (sent % 50 === 49) collectYoung()
  }
  collectYoung()
}

function send(): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = request(server.url, { agent }, (response) => {
      response.resume().on('end', resolve)
    })
    sent.on('error', reject).end()
  })
}

function oldBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space')?.space_used_size ?? 0
}
