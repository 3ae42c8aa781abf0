import { execFileSync } from 'node:child_process'
import { closeSync, constants, openSync, readFileSync, readSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, expect, test } from 'vitest'

import { openLogStream } from '../../src/lib/log-stream.js'
import { makeWorkspace } from '../support/workspace.js'
import { waitUntil } from '../support/wait-until.js'

const workspace = makeWorkspace()
afterAll(workspace.remove)
const LINE = `${'x'.repeat(999)}\n`
const NOTE = /"level":"warn".*"lines":\d+,"msg":"lines of this log could not be written and were left out"/

test('lines go to a file in their order, each at once', () => {
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

test('a pipe that nobody reads holds nobody up, and tells what was left out once it is read', async () => {
  const path = join(workspace.path, 'pipe')
  execFileSync('mkfifo', [path])
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const stream = openLogStream(openSync(path, 'w'))
  const lines = 5000
  for (let count = 0; count < lines; count += 1) stream.write(LINE)
  const chunk = Buffer.alloc(65_536)
  let text = ''
  const readOn = (): void => {
    try {
      for (let read = -1; read !== 0; text += chunk.toString('latin1', 0, read))
        read = readSync(reader, chunk)
    } catch {
      // Nothing more is there now.
    }
  }
  await waitUntil(
    () => {
      readOn()
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
  closeSync(reader)
  // Whose reader is gone is no trouble either.
  stream.write(LINE)
})
