import { connect } from 'node:net'

import { expect, it } from 'vitest'

import { useTidegate } from '../support/use-tidegate.js'

const tidegate = useTidegate()

/** The first line of the answer to a request without a body. */
function statusOf(...lines: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(tidegate().url)
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
  // Escaped paths and paths with `..` reach no other route.
  ['GET /he%61lth HTTP/1.1', ['Host: localhost'], '404 Not Found'],
  ['GET /x/../health HTTP/1.1', ['Host: localhost'], '404 Not Found'],
  ['POST /%761/data/app/allow HTTP/1.1', ['Host: localhost'], '404 Not Found'],
  ['POST /v1/data/../../oes/echo HTTP/1.1', ['Host: localhost'], '400 Bad Request'],
  ['GET /decisions/%2e%2e%2Fhealth HTTP/1.1', ['Host: localhost'], '404 Not Found'],
  ['GET //health// HTTP/1.1', ['Host: localhost'], '200 OK'],
])('%s with %j is %s', async (line, headers, status) => {
  expect(await statusOf(line, ...headers)).toBe(`HTTP/1.1 ${status}`)
})
