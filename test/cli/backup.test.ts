import {
  existsSync,
  rmSync,
  appendFileSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'

import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { runTidegate } from '../support/run-tidegate.js'
import type { ProgramRun } from '../support/run-tidegate.js'
import { startTidegate } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { makeWorkspace } from '../support/workspace.js'

const EVENTS = 40
const GATES = { definitions: [{ id: 7, name: 'Release' }] }

async function trigger(url: string): Promise<{ id: number }> {
  const body = {
    executionId: '01J',
    approvalCallbackURL: 'http://127.0.0.1:9/a',
    rejectionCallbackURL: 'http://127.0.0.1:9/r',
    ...{ toolConnectorParameters: '', imageIds: 'shop:1', connectorType: 'JIRA' },
  }
  const answer = await fetch(`${url}/approvalGates/7/trigger`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  expect(answer.status, await answer.clone().text()).toBe(200)
  return (await answer.json()) as { id: number }
}

interface Manifest {
  readonly trailEnd: string
  readonly files: readonly { readonly name: string }[]
}

describe('a backup', () => {
  const workspace = makeWorkspace({
    'policies/app.rego': 'package app\n\nimport rego.v1\n\nallow := true\n',
  })
  const at = (name: string): string => join(workspace.path, name)
  const run = (...args: readonly string[]): Promise<ProgramRun> => runTidegate(args, { cwd: workspace.path })
  let service: TidegateProcess
  let made: ProgramRun
  let before: string

  const send = async (name: string): Promise<void> => {
    const body = { details: { type: 'orca:stage:complete', application: 'shop' }, content: { name } }
    const { status } = await fetch(`${service.url}/auditservice/v1/echo/events/data`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    expect(status).toBe(200)
  }
  const trailOf = async (
    dataDir: string,
  ): Promise<{ isIntact: boolean; end: { seq: number; hash: string } }> => {
    const { stdout } = await run('audit', 'verify', '--data-dir', dataDir, '--format', 'json')
    return JSON.parse(stdout) as { isIntact: boolean; end: { seq: number; hash: string } }
  }

  beforeAll(async () => {
    service = await startTidegate({ workspace })
    for (let n = 0; n < EVENTS; n++) await send(`before ${n}`)
    const writing = (async () => {
      for (let n = 0; n < EVENTS; n++) await send(`meanwhile ${n}`)
    })()
    made = await run('backup', 'saved', '--data-dir', 'data', '--format', 'json')
    await writing
    before = readFileSync(at('data/callback-secret'), 'utf8')
    await service.end('SIGTERM')
  })
  afterAll(workspace.remove)

  it('of a service at work holds its databases and secrets, and nothing that means nothing elsewhere', () => {
    expect(made).toMatchObject({ exitCode: 0 })
    const { files } = JSON.parse(made.stdout) as Manifest
    expect(files.map(({ name }) => name)).toEqual(['callback-secret', 'decisions.db', 'tidegate.db'])
    expect(readdirSync(at('saved')).sort()).toEqual([
      'backup.json',
      'callback-secret',
      'decisions.db',
      'tidegate.db',
    ])
    for (const { name } of files) expect(statSync(at(`saved/${name}`)).mode & 0o077).toBe(0)
  })

  it('ends at a record of the trail that was there, and none before it is missing', async () => {
    const { trailEnd } = JSON.parse(made.stdout) as Manifest
    expect(Number(trailEnd.split(':')[0])).toBeGreaterThanOrEqual(EVENTS)
    const { exitCode } = await run('audit', 'verify', '--data-dir', 'data', '--expected', trailEnd)
    expect(exitCode).toBe(0)
  })

  it('makes a data directory that a service runs on, with the same trail and secrets', async () => {
    const restored = await run('restore', 'saved', '--data-dir', 'restored')
    expect(restored).toMatchObject({ exitCode: 0, stderr: '' })
    expect(readFileSync(at('restored/callback-secret'), 'utf8')).toBe(before)
    expect(statSync(at('restored')).mode & 0o077).toBe(0)
    const { isIntact, end } = await trailOf('restored')
    expect(isIntact).toBe(true)
    expect(`${end.seq}:${end.hash}`).toBe((JSON.parse(made.stdout) as Manifest).trailEnd)
    const again = await startTidegate({ workspace, dataDir: 'restored' })
    const found = (await (await fetch(`${again.url}/audit?limit=1`)).json()) as {
      records?: unknown[]
    }
    expect(found.records).toHaveLength(1)
    expect(await again.end('SIGTERM')).toBe(0)
  })

  it('gives no number again that may have been given after it was made', async () => {
    await run('restore', 'saved', '--data-dir', 'numbered')
    const database = new Database(at('numbered/tidegate.db'), { readonly: true })
    const numbers = database.prepare('select name, seq from sqlite_sequence').raw().all() as [
      string,
      number,
    ][]
    database.close()
    const of = new Map(numbers)
    for (const table of ['gate_instances', 'analysis_runs', 'outbox']) expect(of.get(table)).toBe(1_000_000)
    const again = await startTidegate({
      workspace,
      dataDir: 'numbered',
      config: { gates: GATES, callbacks: { allowLoopback: true } },
    })
    const { id } = await trigger(again.url)
    expect(id).toBe(1_000_001)
    expect((await fetch(`${again.url}/approvalGateInstances/3/status`)).status).toBe(404)
    expect(await again.end('SIGTERM')).toBe(0)
  })

  it('of a service that keeps its records in PostgreSQL has no more than its decisions and secrets', async () => {
    mkdirSync(at('local'))
    for (const name of ['decisions.db', 'callback-secret'])
      copyFileSync(at(`saved/${name}`), at(`local/${name}`))
    const saved = await run('backup', 'local-saved', '--data-dir', 'local', '--decisions-only')
    expect(saved).toMatchObject({ exitCode: 0 })
    const restored = await run('restore', 'local-saved', '--data-dir', 'local-restored')
    expect(restored).toMatchObject({ exitCode: 0, stderr: '' })
    expect(readdirSync(at('local-restored')).sort()).toEqual(['callback-secret', 'decisions.db'])
  })

  it('takes the name of a folder with a slash at its end', async () => {
    const slashed = await run('backup', 'deep/slashed/', '--data-dir', 'data')
    expect(slashed).toMatchObject({ exitCode: 0, stderr: '' })
    expect(readdirSync(at('deep'))).toEqual(['slashed'])
    expect(readdirSync(at('deep/slashed'))).toContain('backup.json')
  })

  it('is never written over, and never restored over anything', async () => {
    const second = await run('backup', 'saved', '--data-dir', 'data')
    expect(second).toMatchObject({ exitCode: 2 })
    expect(second.stderr).toContain('saved already exists')
    mkdirSync(at('filled'))
    writeFileSync(at('filled/notes.txt'), 'mine')
    const over = await run('restore', 'saved', '--data-dir', 'filled')
    expect(over).toMatchObject({ exitCode: 2 })
    expect(over.stderr).toContain('filled is not empty')
    expect(readdirSync(at('filled'))).toEqual(['notes.txt'])
  })

  it('that was changed, cut or is of something else is refused, and leaves nothing behind', async () => {
    await run('restore', 'saved', '--data-dir', 'copy')
    await run('backup', 'changed', '--data-dir', 'copy')
    appendFileSync(at('changed/callback-secret'), 'x')
    const changed = await run('restore', 'changed', '--data-dir', 'never')
    expect(changed).toMatchObject({ exitCode: 2 })
    expect(changed.stderr).toContain('callback-secret was changed')
    writeFileSync(at('changed/backup.json'), '{"format":"tidegate-backup"}')
    const foreign = await run('restore', 'changed', '--data-dir', 'never')
    expect(foreign.stderr).toContain('changed is not a complete backup')
    expect(readdirSync(workspace.path).filter((name) => /never|\.tmp$/.test(name))).toEqual([])
  })

  it('of a damaged database is refused, and of a directory without one', async () => {
    await run('restore', 'saved', '--data-dir', 'damaged')
    const pages = readFileSync(at('damaged/tidegate.db'))
    pages.fill(0xff, 8192, 8192 * 4)
    writeFileSync(at('damaged/tidegate.db'), pages)
    const damaged = await run('backup', 'of-damaged', '--data-dir', 'damaged')
    expect(damaged).toMatchObject({ exitCode: 2 })
    expect(damaged.stderr).toMatch(/tidegate\.db.*damaged/s)
    const empty = await run('backup', 'of-nothing', '--data-dir', 'policies')
    expect(empty.stderr).toContain('no tidegate database')
    const absent = await run('backup', 'of-nothing', '--data-dir', 'absent')
    expect(absent.stderr).toContain('Data directory absent not found')
    expect(readdirSync(workspace.path).filter((name) => /of-|\.tmp$/.test(name))).toEqual([])
  })

  it('is refused for records that are in a database, and says what copies those', async () => {
    workspace.write({
      'shared.json': JSON.stringify({ store: { url: 'postgres://tidegate@127.0.0.1:1/tidegate' } }),
    })
    const refused = await run('backup', at('of-database'), '--config', at('shared.json'))
    expect(refused.exitCode).toBe(2)
    expect(refused.stderr).toContain(
      'pg_dump --format=custom --file FILE postgres://tidegate@127.0.0.1:1/tidegate',
    )
    const restored = await run('restore', at('of-database'), '--config', at('shared.json'))
    expect(restored.exitCode).toBe(2)
    expect(restored.stderr).toContain('pg_restore')
  })

  it('is refused for a directory without gates, unless only decisions are wanted', async () => {
    workspace.write({
      'shared.json': JSON.stringify({ store: { url: 'postgres://tidegate@127.0.0.1:1/tidegate' } }),
    })
    await run('restore', 'saved', '--data-dir', 'shared-data')
    const configured = await run(
      'backup',
      'of-shared',
      '--data-dir',
      'shared-data',
      '--config',
      'shared.json',
    )
    expect(configured).toMatchObject({ exitCode: 2, stdout: '' })
    expect(configured.stderr).toContain('pg_dump')
    rmSync(at('shared-data/tidegate.db'))
    const refused = await run('backup', 'of-shared', '--data-dir', 'shared-data')
    expect(refused).toMatchObject({ exitCode: 2, stdout: '' })
    expect(refused.stderr).toContain('would have no gates')
    expect(existsSync(at('of-shared'))).toBe(false)
    const decisions = await run('backup', 'of-shared', '--data-dir', 'shared-data', '--decisions-only')
    expect(decisions.exitCode).toBe(0)
    expect(decisions.stdout).toContain('decisions.db')
  })
})
