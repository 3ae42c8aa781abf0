import { closeSync, openSync, readFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { join } from 'node:path'

import { afterAll, expect, test } from 'vitest'

import { logStream, openLogStream, writeToPipe } from '../../src/lib/logger.js'
import { makeWorkspace } from '../support/workspace.js'
import { waitUntil } from '../support/wait-until.js'

const workspace = makeWorkspace()
afterAll(workspace.remove)
const LINE = `${'x'.repeat(999)}\n`
const NOTE = /"level":"warn".*"lines":\d+,"msg":"lines of this log could not be written and were dropped"/

test('lines are written to a file in order and immediately', () => {
  const path = join(workspace.path, 'log')
  const fd = openSync(path, 'w')
  const stream = openLogStream(fd)
  for (const line of ['a\n', 'ü\n', 'c\n']) stream.write(line)
  expect(readFileSync(path, 'utf8')).toBe('a\nü\nc\n')
  closeSync(fd)
})

test('a device that is full costs lines and nothing else', () => {
  const fd = openSync('/dev/full', 'w')
  const stream = openLogStream(fd)
  for (let count = 0; count < 10; count += 1) stream.write(LINE)
  closeSync(fd)
})

test('an unread pipe blocks nothing, and the number of dropped lines is logged once it is read', async () => {
  const { near, far, close } = await connectedPair()
  far.pause()
  const stream = logStream(writeToPipe(near))
  const lines = 20_000
  for (let count = 0; count < lines; count += 1) stream.write(LINE)
  let text = ''
  far.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')))
  far.resume()
  await waitUntil(
    () => {
      stream.write('alive\n')
      return text.includes('alive') ? true : undefined
    },
    () => `${text.length} characters came`,
  )
  const whole = text.split('\n').filter((line) => line === LINE.trimEnd()).length
  expect(whole).toBeGreaterThan(900)
  expect(whole).toBeLessThan(lines)
  expect(text).toMatch(NOTE)
  expect(text.indexOf('alive')).toBeGreaterThan(text.search(NOTE))
  // A closed reader causes no error either.
  far.destroy()
  await waitUntil(
    () => {
      stream.write(LINE)
      return near.destroyed ? true : undefined
    },
    () => 'the end of the reader was not noticed',
  )
  stream.write(LINE)
  await close()
})

/** Both ends of a connection. */
async function connectedPair(): Promise<{ near: Socket; far: Socket; close: () => Promise<void> }> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const accepted = new Promise<Socket>((resolve) => server.once('connection', resolve))
  const near = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const far = await accepted
  return { near, far, close: () => new Promise((resolve) => server.close(() => resolve())) }
}
