import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'

import { afterAll, describe, expect, test } from 'vitest'

import { runOpa } from '../../src/rego/opa/run-opa.js'
import { runTidegate } from '../support/run-tidegate.js'
import { makeWorkspace } from '../support/workspace.js'

const workspace = makeWorkspace({ 'policies/p.rego': 'package static.p\ndeny["x"] { input.a }\n' })
const { path: cwd } = workspace
afterAll(workspace.remove)

/** Returns a directory for PATH with a program called opa. */
function withProgram(name: string, text: string): string {
  const folder = join(cwd, name)
  mkdirSync(folder)
  writeFileSync(join(folder, 'opa'), text)
  chmodSync(join(folder, 'opa'), 0o755)
  return folder
}

describe('an opa on PATH that is none', () => {
  test.each([
    [
      'another program',
      '#!/bin/sh\necho "Usage: opa FILE"\n',
      'is not opa, since `opa version` names no release',
    ],
    [
      'a program of another machine',
      '\x7fELF\x02\x01\x01',
      'is not opa, since `opa version` names no release',
    ],
    [
      'an old release',
      '#!/bin/sh\necho "Version: 0.69.0"\n',
      'is OPA 0.69.0, which is too old: name OPA 0.70 or later',
    ],
    ['one that breaks down', '#!/bin/sh\nkill -SEGV $$\n', 'it was ended by SIGSEGV'],
    ['one whose interpreter is missing', '#!/nowhere/sh\n', 'it or what its first line names is missing'],
  ])('%s is told in one sentence, by version too', async (name, text, sentence) => {
    const PATH = [withProgram(name, text), process.env['PATH']].join(delimiter)
    const check = await runTidegate(['check', 'policies'], { cwd, env: { PATH, OPA_BIN: '' } })
    expect(check).toMatchObject({ exitCode: 2, stdout: '' })
    expect(check.stderr).toMatch(/^tidegate: .*\n$/)
    expect(check.stderr).toContain(sentence)
    const { stdout } = await runTidegate(['version'], { cwd, env: { PATH, OPA_BIN: '' } })
    expect(stdout).toMatch(/^opa +none: /m)
    expect(stdout).toContain(sentence)
  })

  test('a directory of that name is passed over, and is no program to name', async () => {
    mkdirSync(join(cwd, 'folder', 'opa'), { recursive: true })
    const PATH = [join(cwd, 'folder'), process.env['PATH']].join(delimiter)
    const env = { PATH, OPA_BIN: '' }
    expect(await runTidegate(['check', 'policies'], { cwd, env })).toMatchObject({ exitCode: 0 })
    const { stderr } = await runTidegate(['check', 'policies', '--opa', '.'], { cwd, env })
    expect(stderr).toContain('is not an executable file: .')
  })

  test('one that never ends is ended, and reported', async () => {
    const path = join(withProgram('endless', '#!/bin/sh\nexec sleep 1000\n'), 'opa')
    await expect(runOpa({ path, source: 'PATH' }, ['version'], { timeLimitMs: 50 })).rejects.toThrow(
      `run opa version (${path}, from PATH): it does not end within 0.05 s`,
    )
  })
})
