import { connect } from 'node:net'

import { afterAll, beforeAll, expect, it } from 'vitest'

import { startTidegate } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { makeWorkspace } from '../support/workspace.js'

const workspace = makeWorkspace()
let tidegate: TidegateProcess

beforeAll(async () => {
  workspace.write({ 'policies/app.rego': 'package app\n\nimport rego.v1\n\nallow := true\n' })
  tidegate = await startTidegate({ workspace })
})

afterAll(async () => {
  await tidegate.end('SIGTERM')
  workspace.remove()
})

/** The first line of the answer to a request without a body. */
function statusOf(...lines: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(tidegate.url)
    const socket = connect(Number(port), hostname)
    socket.once('error', reject)
    socket.once('data', (chunk: Buffer) => {
      resolve(chunk.toString('latin1').split('\r\n')[0] ?? '')
      socket.destroy()
    })
    socket.write(`${[...lines, 'Content-Length: 0', ''].join('\r\n')}\r\n`)
  })
}

it.each([
  ['GET /decisions HTTP/1.0', [], '200 OK'],
  ['GET /decisions HTTP/1.1', [], '400 Bad Request'],
  ['GET /health HTTP/1.1', ['Host: localhost', 'Host: localhost'], '400 Bad Request'],
  ['POST /v1/data/app/allow HTTP/1.1', ['Host: localhost', 'Host: localhost'], '400 Bad Request'],
  ['GET http://localhost/health HTTP/1.1', ['Host: localhost'], '200 OK'],
  ['GET http://localhost/decisions?limit=1 HTTP/1.1', ['Host: other.invalid'], '200 OK'],
  ['POST http://localhost:8181/v1/data/app/allow HTTP/1.1', ['Host: localhost'], '200 OK'],
  ['GET http://other.invalid/health HTTP/1.1', ['Host: localhost'], '403 Forbidden'],
  ['GET http://other.invalid/health HTTP/1.0', [], '403 Forbidden'],
])('%s with %j is %s', async (line, headers, status) => {
  expect(await statusOf(line, ...headers)).toBe(`HTTP/1.1 ${status}`)
})
