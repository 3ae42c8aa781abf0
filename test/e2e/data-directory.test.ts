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

describe('the log of a service', () => {
  test('is text for people with --log-format text', async () => {
    const end = await failToServe({ workspace, args: ['--log-format', 'prose'] })
    expect(end.output).toMatch(/log\.format: must be one of json, text, not "prose" \(--log-format\)/)
  })
})
