import { spawn } from 'node:child_process'
import { once } from 'node:events'

import { afterEach, beforeEach, expect, test } from 'vitest'

import { PROGRAM } from '../support/project-root.js'
import { runTidegate } from '../support/run-tidegate.js'
import { waitUntil } from '../support/wait-until.js'
import { makeWorkspace } from '../support/workspace.js'
import type { Workspace } from '../support/workspace.js'

const BROKEN = 'package static.wait\n\ndeny contains "no" if input.new.name ==\n'
const DENIES = 'package static.wait\n\nimport rego.v1\n\ndeny contains "no" if input.new.name == "shop"\n'
const TEST =
  'package static.wait_test\n\nimport rego.v1\n\ntest_denies if data.static.wait.deny with input as {"new": {"name": "shop"}}\n'

let workspace: Workspace
beforeEach(() => {
  workspace = makeWorkspace({
    'policies/wait.rego': DENIES,
    'policies/wait_test.rego': TEST,
    'shop.json': '{"name": "shop"}',
  })
})
afterEach(() => workspace.remove())

/** Runs a watched command and collects its output. */
function watching(...args: readonly string[]) {
  const child = spawn(process.execPath, [PROGRAM, ...args, '--watch'], {
    cwd: workspace.path,
    env: { HOME: workspace.path, PATH: process.env['PATH'] },
  })
  let told = ''
  const take = (piece: Buffer): void => void (told += piece.toString())
  child.stdout.on('data', take)
  child.stderr.on('data', take)
  return {
    tells: (text: string) =>
      waitUntil(
        () => (told.includes(text) ? true : undefined),
        () => `not told ${text}: ${told}`,
      ),
    forget: () => (told = ''),
    end: async () => {
      child.kill()
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    },
  }
}

test.each([
  ['check', ['check', 'shop.json'], '1 denied'],
  [
    'eval',
    ['eval', '--entrypoint', 'static/wait/deny', '--input', 'shop.json', '--as', 'pipeline'],
    '["no"]',
  ],
  ['test', ['test', 'policies'], '1 test'],
])(
  '%s shows what policies say whenever one is saved, also after one that did not compile',
  async (_, args, said) => {
    const watched = watching(...args)
    try {
      await watched.tells(said)
      watched.forget()
      workspace.write({ 'policies/wait.rego': BROKEN })
      await watched.tells('rego_parse_error')
      watched.forget()
      workspace.write({ 'policies/wait.rego': DENIES })
      await watched.tells(said)
    } finally {
      await watched.end()
    }
  },
  90_000,
)

test('what comes over standard input cannot be watched', async () => {
  const run = await runTidegate(['check', '--watch', '-'], { cwd: workspace.path, stdin: '{}' })
  expect(run.exitCode).toBe(2)
  expect(run.stderr).toBe('tidegate: --watch cannot read standard input again: name a file\n')
})
