import { createRequire } from 'node:module'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { ask, postJson } from '../support/http-client.js'
import { callUntilClosed } from '../support/keep-alive-client.js'
import { startTidegate } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { waitUntil } from '../support/wait-until.js'
import { makeWorkspace } from '../support/workspace.js'
import type { Workspace } from '../support/workspace.js'

const BODY = '{"input":{"a":1}}'
const HEAD = 'Host: localhost\r\nContent-Type: application/json\r\n'
const REQUESTS = [
  `POST /v1/data/app HTTP/1.1\r\n${HEAD}Content-Length: ${BODY.length}\r\n\r\n${BODY}`,
  `GET /v1/data/app HTTP/1.1\r\n${HEAD}\r\n`,
  `GET /health?plugins HTTP/1.1\r\n${HEAD}\r\n`,
  `GET /metrics HTTP/1.1\r\n${HEAD}\r\n`,
  `GET /nowhere HTTP/1.1\r\n${HEAD}\r\n`,
  `GET /audit?limit=1 HTTP/1.1\r\n${HEAD}\r\n`,
  `POST /platform/echo HTTP/1.1\r\n${HEAD}Content-Length: 30\r\n\r\n{"eventId":"stop","name":"one"}`.replace(
    '30',
    '31',
  ),
  `PUT /approvalGateInstances/1/review HTTP/1.1\r\n${HEAD}Content-Length: 2\r\n\r\n{}`,
]

/** Makes the first close of the read connection fail, which closes the store only in part. */
const FAILING_CLOSE = `
const Database = require(${JSON.stringify(createRequire(import.meta.url).resolve('better-sqlite3'))})
const { isMainThread } = require('node:worker_threads')
const { close } = Database.prototype
Database.prototype.close = function () {
  if (isMainThread && this.readonly && this.name.endsWith('tidegate.db')) throw new Error('the disk is gone')
  return close.call(this)
}
`

let workspace: Workspace | undefined

afterEach(() => workspace?.remove())

async function start(): Promise<TidegateProcess> {
  workspace = makeWorkspace()
  workspace.write({ 'policies/app.rego': 'package app\n\nimport rego.v1\n\nallow := true\n' })
  return await startTidegate({ workspace })
}

describe('a service that is stopped', () => {
  test('answers every request of every kept connection, and then ends', async () => {
    const tidegate = await start()
    const calls = Array.from({ length: 40 }, (_, n) =>
      callUntilClosed(tidegate.url, REQUESTS[n % REQUESTS.length] ?? '', n % 7),
    )
    const { hostname, port } = new URL(tidegate.url)
    const idle = Array.from({ length: 10 }, () => connect(Number(port), hostname))
    const ends = idle.map((socket) => new Promise((resolve) => socket.once('close', resolve)))
    for (const socket of idle) socket.on('error', () => undefined).resume()
    for (let n = 0; n < 10; n += 1) await ask(tidegate.url, { path: '/health' })
    expect(await tidegate.end('SIGTERM')).toBe(0)
    const outcomes = await Promise.all(calls)
    await Promise.all(ends)
    expect(outcomes.filter(({ isCut }) => isCut)).toEqual([])
    expect(outcomes.every(({ answered }) => answered > 0)).toBe(true)
    const shown = tidegate.log()
    const [from, to] = ['shutting down', 'shut down'].map(
      (msg) => shown.find((line) => line.msg === msg)?.['time'],
    )
    // Ten seconds, the whole drain time, was the duration with one connection that stayed open.
    expect(Date.parse(String(to)) - Date.parse(String(from))).toBeLessThan(9000)
  })

  test('ends immediately at a second signal', async () => {
    const tidegate = await start()
    const { hostname, port } = new URL(tidegate.url)
    const socket = connect(Number(port), hostname)
    socket.on('error', () => undefined)
    socket.write(`POST /v1/data/app HTTP/1.1\r\n${HEAD}Content-Length: 12\r\n\r\n{"in`)
    await ask(tidegate.url, { path: '/health' })
    const ended = tidegate.end('SIGTERM')
    await waitUntil(
      () => tidegate.log().find(({ msg }) => msg === 'shutting down'),
      () => tidegate.logText(),
    )
    process.kill(tidegate.pid, 'SIGINT')
    expect(await ended).toBeNull()
    socket.destroy()
  })

  test('closes as much as possible and exits with 1 if a part cannot be closed', async () => {
    workspace = makeWorkspace({
      'policies/app.rego': 'package app\n\nallow := true\n',
      'fail.cjs': FAILING_CLOSE,
    })
    const tidegate = await startTidegate({
      workspace,
      nodeArgs: ['--require', join(workspace.path, 'fail.cjs')],
    })
    expect(await postJson(tidegate.url, '/v1/data/app/allow', {})).toMatchObject({ status: 200 })
    // A remaining thread keeps the process alive.
    expect(await tidegate.end('SIGTERM')).toBe(1)
    const shown = tidegate.log()
    expect(shown.filter(({ level }) => level === 'error')).toMatchObject([
      { part: 'store', error: 'the disk is gone', msg: 'a part of the service failed to close' },
    ])
    expect(shown.find(({ msg }) => msg === 'shut down')).toMatchObject({ failed: ['store'] })
    const again = await startTidegate({ workspace })
    expect(await again.end('SIGTERM')).toBe(0)
  })
})
