import { expect, test } from 'vitest'

import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { connect } from 'node:net'
import type { Socket } from 'node:net'

import { postJson } from '../support/http-client.js'
import { startTidegate } from '../support/tidegate-process.js'
import { waitUntil } from '../support/wait-until.js'
import { makeWorkspace } from '../support/workspace.js'

/** Fewer than the connections that are made; databases and threads need some of them. */
const OPEN_FILES = 300
const CALLERS = 700
/** Half a request that a worker relays, which takes it one more connection. */
const HALF =
  'POST /approvalGates HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n{'
/** Enough for a connection, but not for code loaded for it. */
const CONNECTION_FILES = 3
const MANY_FILES = 1000
/** Enough requests to reach each process. */
const ASKED = 8
/**
 * More steps than the slice of the deciding thread has room for: a thread of its own is started,
 * which opens files.
 */
const POLICY = `package static.slow
deny contains msg if { count([x | some x in numbers.range(1, 3000); some y in numbers.range(1, 300); y == x]) < 0; msg := "no" }
`

test.each([
  ['one process', 1, ''],
  ['two processes', 2, ''],
  ['two processes, and half of each request has come,', 2, HALF],
])('%s with few files hold fewer connections, keep and decide', async (_, workers, sent) => {
  const workspace = makeWorkspace({ 'policies/slow.rego': POLICY })
  const tidegate = await startTidegate({ workspace, openFiles: OPEN_FILES, config: { server: { workers } } })
  const sockets: Socket[] = []
  try {
    const { hostname, port } = new URL(tidegate.url)
    let ended = 0
    for (let caller = 0; caller < CALLERS; caller += 1) {
      const socket = connect(Number(port), hostname)
      socket.write(sent)
      // A client that does not read only notices a reset.
      sockets.push(
        socket
          .on('error', () => undefined)
          .on('close', () => (ended += 1))
          .resume(),
      )
    }
    await waitUntil(
      () => ended >= CALLERS - workers * OPEN_FILES || undefined,
      () => `${ended} connections were ended`,
    )
    for (let asked = 0; asked < ASKED; asked += 1) {
      const event = { details: { type: 'orca:stage:complete' }, eventId: `few-files-${asked}` }
      const headers = { connection: 'close' }
      expect((await postJson(tidegate.url, '/platform/echo', event, headers)).status).toBe(200)
      const decided = await postJson(
        tidegate.url,
        '/v1/staticPolicy/eval',
        { input: { stages: [] } },
        headers,
      )
      expect(decided.status).toBe(200)
    }
    expect(tidegate.logText()).not.toContain('EMFILE')
  } finally {
    for (const socket of sockets) socket.destroy()
    expect(await tidegate.end('SIGTERM')).toBe(0)
    workspace.remove()
  }
})

test('code loaded on demand is loaded once enough files can be opened', async () => {
  const workspace = makeWorkspace({ 'policies/slow.rego': POLICY })
  const tidegate = await startTidegate({ workspace, config: { server: { workers: 1 } } })
  const allowFiles = (count: number): void => {
    execFileSync('prlimit', [`--pid=${tidegate.pid}`, `--nofile=${count}:`])
  }
  try {
    allowFiles(readdirSync(`/proc/${tidegate.pid}/fd`).length + CONNECTION_FILES)
    const refused = await fetch(`${tidegate.url}/metrics`)
    expect(refused.status).toBe(503)
    expect(refused.headers.get('retry-after')).not.toBeNull()
    expect(await refused.text()).toContain('ulimit -n')
    allowFiles(MANY_FILES)
    expect((await fetch(`${tidegate.url}/metrics`)).status).toBe(200)
  } finally {
    expect(await tidegate.end('SIGTERM')).toBe(0)
    workspace.remove()
  }
})
