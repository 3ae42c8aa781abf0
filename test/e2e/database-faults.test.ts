import { readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { damageDatabase } from '../support/damage-database.js'
import { ask } from '../support/http-client.js'
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

describe('a service whose database is damaged beyond its first pages', () => {
  const workspace = makeWorkspace()
  afterAll(() => workspace.remove())

  it('says so to who asks, and in its health', async () => {
    workspace.write({ 'policies/tiny.rego': 'package tiny\n\ndeny := set()\n' })
    await (await startTidegate({ workspace })).end('SIGTERM')
    damageDatabase(join(workspace.path, 'data', 'tidegate.db'), 'audit')
    const service = await startTidegate({ workspace })
    try {
      const event = '{"eventId":"one","name":"test"}'
      const requests = [
        { path: '/oes/echo', headers: { 'Content-Type': 'application/json' }, body: event },
        { path: '/audit/1' },
        { path: '/audit/verify' },
      ]
      for (const request of requests) {
        const { status, text } = await ask(service.url, request)
        expect({ status, body: JSON.parse(text) as unknown }).toMatchObject({
          status: 503,
          body: {
            code: 'store_damaged',
            message: expect.stringMatching(/restore it from a backup/) as unknown,
          },
        })
      }
      const health = await ask(service.url, { path: '/health?plugins' })
      expect(health.status).toBe(500)
      expect(JSON.parse(health.text)).toMatchObject({
        plugins: {
          store: {
            state: 'NOT_READY',
            message: expect.stringMatching(/tidegate\.db: the file is damaged/) as unknown,
          },
        },
      })
    } finally {
      await service.end('SIGTERM')
    }
  })
})
