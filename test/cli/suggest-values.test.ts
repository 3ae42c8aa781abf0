import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { pipelineEvent } from '../support/orchestrator-events.js'
import { postJson } from '../support/http-client.js'
import { runTidegate } from '../support/run-tidegate.js'
import type { ProgramRun } from '../support/run-tidegate.js'
import { startTidegate } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { waitUntil } from '../support/wait-until.js'
import { makeWorkspace } from '../support/workspace.js'

describe('a list in which nothing is found', () => {
  const workspace = makeWorkspace({
    'policies/runtime/freeze.rego': 'package runtime.freeze\n\nimport rego.v1\n\nallow := true\n',
  })
  let service: TidegateProcess
  const run = (line: string): Promise<ProgramRun> =>
    runTidegate([...line.split(' '), '--url', service.url], { env: { TZ: 'Asia/Kolkata' } })

  beforeAll(async () => {
    service = await startTidegate({ workspace })
    await postJson(service.url, '/v1/data/runtime/freeze/allow', { input: {} })
    await postJson(service.url, '/oes/echo', pipelineEvent())
    await waitUntil(
      async () => ((await run('decisions list')).stdout.includes('runtime/freeze') ? true : undefined),
      () => 'the decision is not in the log',
    )
  })
  afterAll(async () => {
    await service.end('SIGTERM')
    workspace.remove()
  })

  it.each([
    [
      'decisions list --path runtime/freze/allow',
      'nothing has --path runtime/freze/allow, did you mean runtime/freeze/allow?',
    ],
    ['decisions list --path /v1/data/runtme/', 'nothing has --path runtme/, did you mean runtime/?'],
    ['audit search --kind orca:pipeline:faild', 'did you mean orca:pipeline:failed?'],
    ['audit search --application shpo', 'nothing has --application shpo, did you mean shop?'],
    [
      'audit search --user nobody-like-this',
      'none of the newest 500 entries has --user nobody-like-this; there are ',
    ],
    ['analysis list --application shpo', 'none of the newest 500 entries has --application shpo'],
    ['gates instances --execution 01J0', 'none of the newest 500 entries has --execution 01J0'],
  ])('%s names what was likely meant', async (line, sentence) => {
    const { exitCode, stdout, stderr } = await run(line)
    expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/^no \w+\n$/)])
    expect(stderr).toContain(sentence)
  })

  it('says nothing where the values are right, and only nothing is found for them together', async () => {
    const { stderr } = await run('decisions list --path runtime/freeze/allow --outcome error')
    expect(stderr).toBe('')
  })

  it('shows no control characters of a value', async () => {
    const { stderr } = await run('gates instances --execution a\u009b2J\u202e\u001b[2K')
    expect(stderr).toContain('has --execution a\ufffd2J\ufffd\ufffd[2K')
  })

  it('says nothing to programs', async () => {
    const { stdout, stderr } = await run('decisions list --path runtime/freze --format json')
    expect([JSON.parse(stdout), stderr]).toEqual([{ decisions: [] }, ''])
  })

  it('has times in the zone of whoever asks, or from now on backwards', async () => {
    const listed = (await run('decisions list')).stdout
    const local = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?=\+05:30)/.exec(listed)?.[0] ?? ''
    expect((await run(`decisions list --since ${local}`)).stdout).toContain('runtime/freeze')
    expect((await run(`decisions list --until ${local}`)).stdout).toBe('no decisions\n')
    expect((await run('decisions list --since 1h')).stdout).toContain('runtime/freeze')
    expect((await run('decisions list --until 1h')).stdout).toBe('no decisions\n')
  })
})
