import { spawn } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { postJson } from '../support/http-client.js'
import { PROGRAM } from '../support/project-root.js'
import { runTidegate } from '../support/run-tidegate.js'
import { startTidegate } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { waitUntil } from '../support/wait-until.js'
import { makeWorkspace } from '../support/workspace.js'

const workspace = makeWorkspace({ 'policies/app.rego': 'package app\n\nimport rego.v1\n\nallow := true\n' })
let service: TidegateProcess

beforeAll(async () => {
  service = await startTidegate({ workspace })
  await happen('orca:pipeline:starting')
})

afterAll(async () => {
  await service.end('SIGTERM')
  workspace.remove()
})

async function happen(type: string): Promise<void> {
  const details = {
    source: 'orca',
    type,
    application: 'shop',
    created: String(Date.now()),
    requestHeaders: {},
  }
  const execution = { type: 'PIPELINE', id: '01J0SHOWN', application: 'shop', name: 'rollout' }
  const event = { eventId: type, details, content: { execution } }
  expect(await postJson(service.url, '/platform/echo', event)).toMatchObject({ status: 200 })
}

describe('tidegate audit timeline', () => {
  test('shows what happened in an execution, for people and for programs', async () => {
    const text = await runTidegate(['audit', 'timeline', '01J0SHOWN', '--url', service.url])
    expect(text.stdout).toMatch(/^shop \/ rollout\ntime .*\n\S+ +orca:pipeline:starting/)
    const json = await runTidegate([
      'audit',
      'timeline',
      '01J0SHOWN',
      '--url',
      service.url,
      '--format',
      'json',
    ])
    expect(JSON.parse(json.stdout)).toMatchObject({ entries: [{ kind: 'orca:pipeline:starting' }] })
  })

  test('says that nothing is known of an execution', async () => {
    const { exitCode, stderr } = await runTidegate(['audit', 'timeline', 'none', '--url', service.url])
    expect([exitCode, stderr]).toEqual([2, 'tidegate: there is no record of the execution none\n'])
  })

  test('shows what is new for as long as somebody watches', async () => {
    const child = spawn(process.execPath, [
      PROGRAM,
      'audit',
      'timeline',
      '01J0SHOWN',
      '--url',
      service.url,
      '--watch',
    ])
    let shown = ''
    child.stdout.on('data', (chunk: Buffer) => (shown += chunk.toString()))
    const until = (kind: string): Promise<unknown> =>
      waitUntil(
        () => shown.includes(kind) || undefined,
        () => `not shown: ${kind}\n${shown}`,
      )
    try {
      await until('orca:pipeline:starting')
      await happen('orca:pipeline:complete')
      await until('orca:pipeline:complete')
      expect(shown.split('shop / rollout')).toHaveLength(3)
    } finally {
      child.kill()
    }
  })
})
