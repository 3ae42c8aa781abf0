import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runTidegate } from '../support/run-tidegate.js'
import type { ProgramRun } from '../support/run-tidegate.js'
import { startStorageService } from '../support/storage-service.js'
import type { StorageService } from '../support/storage-service.js'
import { makeWorkspace } from '../support/workspace.js'
import type { Workspace } from '../support/workspace.js'

const POLICY = `package static.names

import rego.v1

deny contains sprintf("%s: no such name", [input.new.name]) if startswith(input.new.name, "bad")
`

let workspace: Workspace
let storage: StorageService

beforeEach(async () => {
  workspace = makeWorkspace({ 'policies/names.rego': POLICY })
  storage = await startStorageService({ takesList: false, hasBatch: true })
})

afterEach(async () => {
  await storage.close()
  workspace.remove()
})

const pipeline = (name: string, application = 'shop') => ({ name, application, id: `id-${name}`, stages: [] })

function keep(...pipelines: readonly ReturnType<typeof pipeline>[]): void {
  for (const one of pipelines) storage.pipelines.set(one.name, one)
}

function run(command: string, ...args: readonly string[]): Promise<ProgramRun> {
  return runTidegate(['pipelines', command, '--storage-url', storage.origin, ...args], {
    cwd: workspace.path,
  })
}

describe('tidegate pipelines', () => {
  it('pull writes all definitions, or those of one application', async () => {
    keep(pipeline('a'), pipeline('b', 'other'))
    const all = await run('pull')
    expect(JSON.parse(all.stdout)).toEqual([pipeline('a'), pipeline('b', 'other')])
    const some = await run('pull', '--application', 'Other')
    expect(JSON.parse(some.stdout)).toEqual([pipeline('b', 'other')])
    const none = await run('pull', '--application', 'none')
    expect(JSON.parse(none.stdout)).toEqual([])
  })

  it('check reports by application what the policies deny', async () => {
    keep(pipeline('good'), pipeline('bad-1'), pipeline('bad-2', 'other'))
    const { exitCode, stdout } = await run('check')
    expect(exitCode).toBe(1)
    expect(stdout).toContain('shop  1 of 2\n  denied  bad-1\n    static.names: bad-1: no such name\n')
    expect(stdout).toContain('3 pipelines of 2 applications: 2 denied\n')
    const one = await run('check', '--application', 'shop', '--format', 'json')
    expect(JSON.parse(one.stdout)).toMatchObject({
      summary: { applications: 1, pipelines: 2, denied: 1, errors: 0 },
      applications: [{ application: 'shop', allowed: 1, findings: [{ pipeline: 'bad-1' }] }],
    })
  })

  it('push stores what is allowed, sends nothing that is denied, and names what was not stored', async () => {
    const definitions = [pipeline('good'), pipeline('bad'), pipeline('refused')]
    workspace.write({ 'pipelines.json': JSON.stringify(definitions) })
    const file = join(workspace.path, 'pipelines.json')
    const { exitCode, stdout } = await run('push', file)
    expect([...storage.pipelines.keys()]).toEqual(['good'])
    expect(storage.seen.filter(({ body }) => body.includes('"bad"'))).toEqual([])
    expect(stdout).toContain('not stored  shop "refused"\n  denied by policy\n')
    expect(stdout).toContain('1 pipeline stored\n')
    expect(exitCode).toBe(2)
  })

  it('push --update replaces what exists by its id, and makes nothing anew', async () => {
    keep(pipeline('known'))
    const changed = { ...pipeline('known'), description: 'changed' }
    const definitions = [changed, pipeline('strange'), { name: 'new', application: 'shop' }, pipeline('bad')]
    workspace.write({ 'pipelines.json': JSON.stringify(definitions) })
    const { exitCode, stdout } = await run('push', '--update', join(workspace.path, 'pipelines.json'))
    expect([...storage.pipelines.values()]).toEqual([changed])
    expect(storage.seen.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'PUT /pipelines/id-known',
      'PUT /pipelines/id-strange',
    ])
    expect(stdout).toContain('not stored  shop "strange"\n  update pipeline id-strange: ')
    expect(stdout).toContain('not stored  shop "new"\n  it has no id: ')
    expect(stdout).toContain('1 pipeline stored\n')
    expect(exitCode).toBe(2)
  })

  it('push --dry-run asks the policies only', async () => {
    workspace.write({ 'pipelines.json': JSON.stringify(pipeline('bad')) })
    const { exitCode, stdout } = await run('push', '--dry-run', join(workspace.path, 'pipelines.json'))
    expect(exitCode).toBe(1)
    expect(stdout).toContain('nothing was sent')
    expect(storage.seen).toEqual([])
  })

  it('says when the storage service is not there', async () => {
    await storage.close()
    const { exitCode, stderr } = await run('pull')
    expect(exitCode).toBe(2)
    expect(stderr).toMatch(/could not be reached/)
    storage = await startStorageService({ takesList: false, hasBatch: true })
  })
})
