import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { claimDataDirectory } from '../../../../src/store/sqlite/engine/claim-data-directory.js'
import { PROJECT_ROOT } from '../../../support/project-root.js'

let directory: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tidegate-claim-'))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

/** A process that holds the lock as a service would, and then dies without a word. */
async function claimAndBeKilled(): Promise<void> {
  const script = `
    const Database = require(${JSON.stringify(join(PROJECT_ROOT, 'node_modules/better-sqlite3'))})
    const database = new Database(${JSON.stringify(join(directory, 'tidegate.lock'))})
    database.exec('begin exclusive')
    process.stdout.write('held')
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  await new Promise((resolve) => child.stdout.once('data', resolve))
  expect(() => claimDataDirectory(directory)).toThrow(/another tidegate serves from the data directory/)
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await ended
}

describe('claiming a data directory', () => {
  it('is for one at a time, until it is released', async () => {
    const release = claimDataDirectory(directory)
    expect(() => claimDataDirectory(directory)).toThrow(
      expect.objectContaining({ kind: 'unavailable', message: expect.stringContaining(directory) as string }),
    )
    await release()
    await claimDataDirectory(directory)()
  })

  it('does not outlive the process, killed or not', async () => {
    await claimAndBeKilled()
    await claimDataDirectory(directory)()
  })

  it('creates the directory', async () => {
    await claimDataDirectory(join(directory, 'a', 'b'))()
  })

  it('describes the problem of a file that is no lock', () => {
    writeFileSync(join(directory, 'tidegate.lock'), 'x'.repeat(200))
    expect(() => claimDataDirectory(directory)).toThrow(/open tidegate\.lock: the file is damaged/)
  })
})
