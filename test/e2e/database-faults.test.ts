import { readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { failToServe, startTidegate } from '../support/tidegate-process.js'
import { makeWorkspace } from '../support/workspace.js'
import type { Workspace } from '../support/workspace.js'

const FILES = ['tidegate.db', 'decisions.db'] as const
const workspaces = FILES.map((file) => ({ file, workspace: makeWorkspace() }))

beforeAll(async () => {
  for (const { workspace } of workspaces) {
    workspace.write({ 'policies/tiny.rego': 'package tiny\n\ndeny := set()\n' })
    const service = await startTidegate({ workspace })
    await service.end('SIGTERM')
  }
})

afterAll(() => {
  for (const { workspace } of workspaces) workspace.remove()
})

/** Without what SQLite keeps beside a file that is open. */
function dataFiles({ path }: Workspace): string[] {
  return readdirSync(join(path, 'data')).filter((name) => !/-(shm|wal)$/.test(name))
}

// Each waits as long as a lock is waited for.
describe('a service whose database is locked by another process', () => {
  it.concurrent.each(workspaces)(
    'does not start, and leaves the file alone: $file',
    async ({ file, workspace }) => {
      const path = join(workspace.path, 'data', file)
      const [before, files] = [readFileSync(path), dataFiles(workspace)]
      const other = new Database(path)
      try {
        other.exec('begin immediate')
        const { code, output } = await failToServe({ workspace })
        expect(code).toBe(2)
        expect(output).toContain(
          `${file}: the file is locked by another process (database is locked): end what `,
        )
        expect(output).not.toMatch(/^\s+at /m)
      } finally {
        other.close()
      }
      expect(readFileSync(path)).toEqual(before)
      expect(dataFiles(workspace)).toEqual(files)
    },
  )
})

describe('a service whose database is damaged', () => {
  it.each(
    workspaces.flatMap(({ file, workspace }) => [
      {
        file,
        workspace,
        damage: 'no database',
        spoil: (path: string) => writeFileSync(path, 'x'.repeat(9000)),
      },
      { file, workspace, damage: 'cut short', spoil: (path: string) => truncateSync(path, 5000) },
      { file, workspace, damage: 'empty', spoil: (path: string) => truncateSync(path, 0) },
    ]),
  )(
    'does not start, and leaves the file alone: $file that is $damage',
    async ({ file, workspace, spoil }) => {
      const path = join(workspace.path, 'data', file)
      const sound = readFileSync(path)
      spoil(path)
      const damaged = readFileSync(path)
      const files = dataFiles(workspace)
      const { code, output } = await failToServe({ workspace })
      expect(code).toBe(2)
      expect(output).toMatch(
        new RegExp(`${file}: the file is (damaged or no database|empty).*: ?.*restore it from a backup`),
      )
      expect(readFileSync(path)).toEqual(damaged)
      expect(dataFiles(workspace)).toEqual(files)
      writeFileSync(path, sound)
    },
  )
})
