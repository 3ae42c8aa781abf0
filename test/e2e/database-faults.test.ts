import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { damageDatabase } from '../support/damage-database.js'
import { ask, postJson } from '../support/http-client.js'
import { failToServe, startTidegate, untilLogged } from '../support/tidegate-process.js'
import { waitUntil } from '../support/wait-until.js'
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

describe('a service whose durable database is damaged', () => {
  it.each(
    workspaces.slice(0, 1).flatMap(({ file, workspace }) => [
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

describe('a service whose decision log is damaged', () => {
  const workspace = makeWorkspace({ 'policies/tiny.rego': 'package tiny\n\nallow := true\n' })
  const dataDir = join(workspace.path, 'data')
  const path = join(dataDir, 'decisions.db')
  afterAll(() => workspace.remove())
  const decide = (url: string) => postJson(url, '/v1/data/tiny/allow', { input: {} })
  const read = async (url: string, of: string) => (await ask(url, { path: of })).text
  const count = async (url: string, metric: string): Promise<number> =>
    Number(new RegExp(`^${metric} (\\d+)`, 'm').exec(await read(url, '/metrics'))?.[1])
  const renewed = (url: string, times: number) =>
    waitUntil(
      async () => ((await count(url, 'tidegate_decision_log_renewed_total')) === times ? true : undefined),
      () => 'the log is not begun anew',
    )

  it('starts, renames it and begins another; so it does when that goes while it runs', async () => {
    await (await startTidegate({ workspace })).end('SIGTERM')
    writeFileSync(path, 'x'.repeat(70_000))
    const service = await startTidegate({ workspace })
    try {
      await renewed(service.url, 1)
      const damaged = readdirSync(dataDir).find((name) => name.startsWith('decisions.db.damaged-'))
      const health = await ask(service.url, { path: '/health?plugins' })
      expect(health.status).toBe(200)
      expect(JSON.parse(health.text)).toMatchObject({
        plugins: {
          decision_logs: { state: 'WARN', message: expect.stringContaining(damaged ?? '?') as string },
        },
      })
      await untilLogged(service, (line) => JSON.stringify(line).includes('the decision log was begun anew'))
      rmSync(path)
      expect((await decide(service.url)).status).toBe(200)
      await renewed(service.url, 2)
      expect((await decide(service.url)).status).toBe(200)
      await waitUntil(
        async () => ((await read(service.url, '/decisions')).includes('tiny/allow') ? true : undefined),
        () => 'the decision is not in the log',
      )
    } finally {
      expect(await service.end('SIGTERM')).toBe(0)
    }
  })
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
