import { chmodSync, existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, beforeAll, expect, test } from 'vitest'

import { olderOpa } from '../support/compilers.js'
import { startTidegate } from '../support/tidegate-process.js'
import { makeWorkspace } from '../support/workspace.js'
import type { Workspace } from '../support/workspace.js'

const POLICY = 'package static.named\nimport rego.v1\ndeny contains "give it a name" if not input.new.name\n'
let workspace: Workspace

beforeAll(() => {
  workspace = makeWorkspace({
    'policies/named.rego': POLICY,
    opa: `#!/bin/sh\necho "$1" >>"$(dirname "$0")/calls"\nexec '${process.env['OPA_BIN'] ?? olderOpa() ?? 'opa'}' "$@"\n`,
  })
  chmodSync(join(workspace.path, 'opa'), 0o755)
})
afterAll(() => workspace.remove())

/** Starts the service, sends a request, ends it, and returns its runs of `opa`. */
async function runsOfOpa(): Promise<string[]> {
  const calls = join(workspace.path, 'calls')
  rmSync(calls, { force: true })
  const config = { policies: { opa: join(workspace.path, 'opa') } }
  const tidegate = await startTidegate({ workspace, config })
  try {
    const answer = await fetch(`${tidegate.url}/v1/staticPolicy/eval`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"input":{"new":{"stages":[]}}}',
    })
    expect(answer.status).toBe(401)
  } finally {
    await tidegate.end('SIGTERM')
  }
  return existsSync(calls) ? readFileSync(calls, 'utf8').trim().split('\n') : []
}

test('a second start from the same sources compiles nothing, and one from others does', async () => {
  expect(await runsOfOpa()).toContain('build')
  expect(await runsOfOpa()).not.toContain('build')

  workspace.write({ 'policies/named.rego': `${POLICY}\nallow if true\n` })
  expect(await runsOfOpa()).toContain('build')
})
