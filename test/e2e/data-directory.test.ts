import Database from 'better-sqlite3'
import { afterAll, describe, expect, test } from 'vitest'
import { failToServe, startTidegate } from '../support/tidegate-process.js'
import { makeWorkspace } from '../support/workspace.js'

const workspace = makeWorkspace()
workspace.write({ 'policies/app.rego': 'package app\n\nimport rego.v1\n\nallow := true\n' })

afterAll(() => workspace.remove())

describe('a data directory', () => {
  test('has one service at a time, and is free again when that is gone, killed or not', async () => {
    const first = await startTidegate({ workspace })
    const second = await failToServe({ workspace })
    expect(second.code).toBe(2)
    expect(second.output).toContain(
      `another tidegate serves from the data directory ${workspace.path}/data: stop it, or choose another`,
    )
    await first.end('SIGKILL')
    const third = await startTidegate({ workspace })
    expect(await third.end('SIGTERM')).toBe(0)
  })
})

test('the first error of a start is reported alone, although policies and the decision log are opened in parallel', async () => {
  const broken = makeWorkspace()
  broken.write({ 'policies/app.rego': 'package app\n\nallow :=\n', 'data/empty': '' })
  const foreign = new Database(`${broken.path}/data/decisions.db`)
  foreign.exec('pragma application_id = 7; create table theirs (a)')
  foreign.close()
  const end = await failToServe({ workspace: broken })
  expect(end.code).toBe(2)
  expect(end.output).toContain('open decisions.db: the file belongs to another program')
  expect(end.output).not.toContain('app.rego')
  broken.remove()
})

describe('the log of a service', () => {
  test('is text for people with --log-format text', async () => {
    const end = await failToServe({ workspace, args: ['--log-format', 'prose'] })
    expect(end.output).toMatch(/log\.format: must be one of json, text, not "prose" \(--log-format\)/)
  })
})
