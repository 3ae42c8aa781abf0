import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import Sqlite from 'better-sqlite3'
import { afterAll, describe, expect, it } from 'vitest'

import { ask, objectOf } from '../support/http-client.js'
import { PROJECT_ROOT } from '../support/project-root.js'
import { runTidegate } from '../support/run-tidegate.js'
import { failToServe, startTidegate } from '../support/tidegate-process.js'
import { makeWorkspace } from '../support/workspace.js'

const RECORDED = join(PROJECT_ROOT, 'test/fixtures/data-of-an-earlier-release')
const FILES = ['tidegate.db', 'decisions.db'] as const
const POLICY = 'package app\n\nimport rego.v1\n\ndeny contains "not on Fridays" if input.a == 1\n'

const workspace = makeWorkspace({ 'policies/app.rego': POLICY })
const at = (file: string): string => join(workspace.path, 'data', file)
afterAll(workspace.remove)

/** The names of the migrations that a file has had, oldest first. */
function migrationsOf(file: string): string[] {
  const database = new Sqlite(file, { readonly: true })
  try {
    const rows = database
      .prepare<[], { name: string }>('select name from kysely_migration order by name')
      .all()
    return rows.map(({ name }) => name)
  } finally {
    database.close()
  }
}

describe('a data directory of an earlier release', () => {
  mkdirSync(join(workspace.path, 'data'), { mode: 0o700 })
  for (const file of FILES)
    writeFileSync(at(file), gunzipSync(readFileSync(join(RECORDED, `${file}.gz`))), { mode: 0o600 })
  const before = FILES.map((file) => migrationsOf(at(file)))

  it('is brought up to date, with all that it holds', async () => {
    const service = await startTidegate({ workspace })
    const get = async (path: string) => objectOf(await ask(service.url, { path }))
    try {
      expect(await get('/audit/verify')).toMatchObject({ isIntact: true, problems: [] })
      expect(await get('/audit?q=rollout')).toMatchObject({
        records: [{ seq: 3, kind: 'orca:pipeline:complete', application: 'shop', executionId: '01J0OLD' }],
      })
      expect(await get('/decisions?path=app/deny&inputs=true')).toMatchObject({
        decisions: [{ outcome: 'defined', input: { a: 1 }, result: ['not on Fridays'] }],
      })
      expect(await get('/approvalGateInstances/1')).toMatchObject({
        gateName: 'Release',
        executionId: '01J0OLD',
      })
      expect(await get('/applications')).toMatchObject({ applications: [{ name: 'shop' }] })
      const { decision_id: id } = objectOf(
        await ask(service.url, { method: 'POST', path: '/v1/data/app/deny', body: '{"input":{"a":1}}' }),
      )
      expect(id).toBeDefined()
    } finally {
      expect(await service.end('SIGTERM')).toBe(0)
    }
    const verified = await runTidegate(['audit', 'verify', '--data-dir', join(workspace.path, 'data')])
    expect(verified).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^intact: /) as string })
  })

  // A program refuses a file with a migration that it does not know, by the name of the first.
  it('is one that the earlier release refuses from then on, as this one does with a later', async () => {
    const after = FILES.map((file) => migrationsOf(at(file)))
    after.forEach((names, index) => {
      const known = before[index] ?? []
      expect(names.slice(0, known.length)).toEqual(known)
    })
    expect(after.flat().length).toBeGreaterThan(before.flat().length)
    const database = new Sqlite(at('tidegate.db'))
    database
      .prepare('insert into kysely_migration values (?, ?)')
      .run('9999-of-tomorrow', new Date().toISOString())
    database.close()
    const { code, output } = await failToServe({ workspace })
    expect(code).toBe(2)
    expect(output).toContain(
      'migrate tidegate.db: the file was written by a newer release (it has "9999-of-tomorrow"): upgrade, or use another data directory',
    )
    expect(output.split('\n').filter((line) => /^\s+at /.test(line))).toEqual([])
  })
})
