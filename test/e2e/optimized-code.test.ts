import { execFileSync } from 'node:child_process'
import { expect, test, vi } from 'vitest'

import { PROGRAM, PROJECT_ROOT } from '../support/project-root.js'
import { startTidegate } from '../support/tidegate-process.js'
import { waitUntil } from '../support/wait-until.js'
import { makeWorkspace } from '../support/workspace.js'

/** Of V8's own words on what it does. */
const TRACED = ['--trace-opt']
const OPTIMIZES = 'for optimization'
const POLICY =
  'package static.ordinary\ndeny contains msg if { regex.match(`a+b`, input.name); msg := "no" }\n'

test('a command has V8 optimize what it runs, once its code is loaded', () => {
  const asked = ['check', '--policies', 'policies', 'test/cases/pipelines/wait-then-deploy.json']
  const output = execFileSync(process.execPath, [...TRACED, PROGRAM, ...asked], { cwd: PROJECT_ROOT })
  expect(output.toString()).toContain(OPTIMIZES)
})

test('a service has V8 optimize what it runs, from before its policies are loaded', async () => {
  const workspace = makeWorkspace({ 'policies/ordinary.rego': POLICY })
  const tidegate = await startTidegate({ workspace, nodeArgs: TRACED })
  try {
    await waitUntil(
      () => tidegate.logText().includes(OPTIMIZES) || undefined,
      () => tidegate.logText(),
    )
  } finally {
    await tidegate.end('SIGTERM')
  }
})

/** How often V8 took the code of a module of Node.js's own that is there compiled, and how often it did not. */
function codeTaken(logText: string): { accepted: number; rejected: number } {
  const count = (word: string): number =>
    logText.split(`Code cache of `).filter((rest) => rest.split('\n')[0]?.endsWith(word)).length
  return { accepted: count('is accepted'), rejected: count('is rejected') }
}

test("a service and its threads take the code of Node.js's own modules that is there compiled", async () => {
  const workspace = makeWorkspace({ 'policies/ordinary.rego': POLICY })
  vi.stubEnv('NODE_DEBUG_NATIVE', 'CODE_CACHE')
  const tidegate = await startTidegate({ workspace })
  vi.unstubAllEnvs()
  try {
    const { accepted, rejected } = codeTaken(tidegate.logText())
    expect(accepted).toBeGreaterThan(100)
    expect(rejected).toBeLessThan(accepted / 2)
  } finally {
    await tidegate.end('SIGTERM')
  }
})
