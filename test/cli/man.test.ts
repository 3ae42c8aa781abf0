import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'

import { findProgram } from '../support/find-program.js'
import { runTidegate } from '../support/run-tidegate.js'
import { makeWorkspace } from '../support/workspace.js'

const groff = findProgram('groff')
const workspace = makeWorkspace()

afterAll(workspace.remove)

describe('tidegate man', () => {
  test('prints the page of a command with its flags as its help has them', async () => {
    const { exitCode, stdout } = await runTidegate(['man', 'decisions', 'list'])
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^\.TH TIDEGATE\\-DECISIONS\\-LIST 1 /)
    expect(stdout).toContain('.B \\-\\-outcome <outcome>')
    expect(stdout.split('\n').filter((line) => /^['.](?!(?:TH|SH|TP|B)\b)/.test(line))).toEqual([])
  })

  test('writes the pages of all commands', async () => {
    const { stdout } = await runTidegate(['man', '--dir', workspace.path])
    const pages = readdirSync(join(workspace.path, 'man1'))
    expect(stdout).toContain(`${pages.length} pages`)
    for (const page of ['tidegate.1', 'tidegate-serve.1', 'tidegate-audit-timeline.1'])
      expect(pages).toContain(page)
  })

  test.skipIf(groff === undefined)('gives pages that groff reads without a warning (groff)', async () => {
    await runTidegate(['man', '--dir', workspace.path])
    for (const page of readdirSync(join(workspace.path, 'man1'))) {
      const file = join(workspace.path, 'man1', page)
      const warned = execFileSync('bash', [
        '-c',
        `"$0" -man -Tutf8 -ww "$1" 2>&1 >/dev/null`,
        groff ?? '',
        file,
      ])
      expect(warned.toString()).toBe('')
    }
  })

  test('says that there is no such command', async () => {
    expect(await runTidegate(['man', 'gates', 'lst'])).toMatchObject({
      exitCode: 2,
      stderr: "tidegate: there is no command 'gates lst', did you mean 'gates list'?\n",
    })
  })
})
