import { afterEach, describe, expect, it } from 'vitest'

import { openRaw, startTestServer } from '../../support/http-transports.js'
import type { TestServer } from '../../support/http-transports.js'
import { waitUntil } from '../../support/wait-until.js'

const BODY_BYTES = 5000

let server: TestServer | undefined

afterEach(async () => {
  await server?.close()
})

function post(length: number, sent: number): string {
  return `POST /v1/data/app HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${length}\r\n\r\n${'x'.repeat(sent)}`
}

async function until(check: () => boolean, what: string): Promise<void> {
  await waitUntil(
    () => check() || undefined,
    () => what,
  )
}

describe('a server', () => {
  it('ends the oldest connection without a whole request for one too many, and no other', async () => {
    server = await startTestServer({ maxConnections: 3 })
    const kept = openRaw(server.port)
    kept.socket.write(post(2, 2))
    await until(() => kept.received().includes('200 OK'), 'no answer')
    const silent = openRaw(server.port)
    await until(() => server?.connections() === 2, 'no connection')
    const half = openRaw(server.port)
    half.socket.write(post(100, 10))
    await until(() => server?.connections() === 3, 'no connection')
    const late = openRaw(server.port)
    expect(await silent.answered).toBe('')
    late.socket.end(post(2, 2))
    expect(await late.answered).toContain('200 OK')
    expect([half.socket.destroyed, kept.socket.destroyed]).toEqual([false, false])
    half.socket.destroy()
    kept.socket.destroy()
  })

  it('gives up the body that began first when too much has come of bodies that do not end', async () => {
    server = await startTestServer({ maxHalfBytes: 2.5 * BODY_BYTES })
    const open: ReturnType<typeof openRaw>[] = []
    for (const n of [1, 2, 3]) {
      const caller = openRaw(server.port)
      caller.socket.write(post(BODY_BYTES + 1000, BODY_BYTES))
      open.push(caller)
      if (n < 3) await until(() => server?.halfBytes() === n * BODY_BYTES, 'the body does not come')
    }
    const [first, second, third] = open
    await until(() => first?.received().includes('503 Service Unavailable') === true, 'not given up')
    expect(first?.received()).toMatch(/\r\nRetry-After: 1\r\n/)
    expect(server.halfBytes()).toBe(2 * BODY_BYTES)
    for (const caller of [second, third]) {
      caller?.socket.end('x'.repeat(1000))
      expect(await caller?.answered).toContain('200 OK')
    }
    expect(server.halfBytes()).toBe(0)
    first?.socket.destroy()
  })

  it('holds nothing of bodies that break off', async () => {
    server = await startTestServer()
    const caller = openRaw(server.port)
    caller.socket.write(post(BODY_BYTES + 1000, BODY_BYTES))
    await until(() => server?.halfBytes() === BODY_BYTES, 'the body does not come')
    caller.socket.destroy()
    await until(() => server?.halfBytes() === 0, 'it is still held')
  })
})
