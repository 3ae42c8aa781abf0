import { existsSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { expect, test } from 'vitest'

import { RelaySocket } from '../../../src/http/relay/serve-relayed.js'
import { waitUntil } from '../../support/wait-until.js'
import { makeWorkspace } from '../../support/workspace.js'

test('a socket that is removed in the moment in which it is made is made again', async () => {
  const workspace = makeWorkspace()
  const path = join(workspace.path, 'main')
  const server = createServer()
  server.once('listening', () => rmSync(path))
  const socket = new RelaySocket(server, path)
  await socket.open()
  expect(existsSync(path)).toBe(false)
  await waitUntil(
    () => existsSync(path) || undefined,
    () => 'it is not made again',
  )
  await socket.leave()
  server.close()
  workspace.remove()
})
