import { join } from 'node:path'

import { afterAll, describe, expect, test } from 'vitest'

import { runTidegate } from '../support/run-tidegate.js'
import { makeWorkspace } from '../support/workspace.js'

const workspace = makeWorkspace({
  'policies/old.rego': 'package static.old\ndeny["x"] { input.a; data.settings.b }\n',
  'policies/a [b]/new.rego':
    '# METADATA\n# title: New\npackage static.new\ndeny contains "x" if data.static.old.deny[_]\n',
  'policies/old_test.rego': 'package static.old_test\ntest_x { true }\n',
  'policies/settings/data.yaml': 'b: 1\n',
  'owned/.manifest': '{"revision": "seven", "roots": ["p"]}',
  'owned/p/p.rego': 'package p\nallow := true\n',
  'owned/p/data.yaml': 'b: 1\n',
  'broken/p.rego': 'package p\nx := {\n',
})
const { path: cwd } = workspace
afterAll(workspace.remove)

const run = (...args: readonly string[]) => runTidegate(args, { cwd })
const names = (refs: readonly (readonly { value: unknown }[])[]) =>
  refs.map((ref) => ref.map(({ value }) => value).join('.')).sort()

describe('inspect', () => {
  test('lists the files that serve, of both versions, by their own names', async () => {
    const { exitCode, stdout } = await run('inspect', '--format', 'json')
    expect(exitCode).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      namespaces: {
        'data.static.new': ['policies/a [b]/new.rego'],
        'data.static.old': ['policies/old.rego'],
      },
    })
    expect(stdout).not.toContain('old_test')
  })

  test('shows metadata, and what a bundle holds', async () => {
    expect((await run('inspect', 'policies', '--annotations')).stdout).toContain('New\n===\n')
    await run('build', 'policies', '-o', 'b.tar.gz', '--revision', 'seven')
    expect((await run('inspect', 'b.tar.gz')).stdout).toMatch(/Revision +[|│] seven/)
  })

  test('lists data where it stands, no data that is not there, and the manifest of the directory', async () => {
    const { stdout } = await run('inspect', 'owned', '--format', 'json')
    expect(JSON.parse(stdout)).toMatchObject({
      manifest: { revision: 'seven', roots: ['p'] },
      namespaces: { 'data.p': ['owned/p/p.rego', 'p/data.yaml'] },
    })
    expect(stdout).not.toContain('data.json')
  })

  test('tells where Rego does not parse', async () => {
    const { exitCode, stderr } = await run('inspect', 'broken')
    expect(exitCode).toBe(2)
    expect(stderr).toMatch(/\nbroken\/p\.rego:/)
  })
})

describe('deps', () => {
  test.each(['static/new/deny', 'data.static.new.deny'])(
    'lists what %s reads, through both versions',
    async (path) => {
      const { exitCode, stdout } = await run('deps', path, join(cwd, 'policies'), '--format', 'json')
      expect(exitCode).toBe(0)
      const { base, virtual } = JSON.parse(stdout) as Record<'base' | 'virtual', { value: unknown }[][]>
      expect(names(base)).toEqual(['data.settings.b', 'input.a'])
      expect(names(virtual)).toEqual(['data.static.new.deny', 'data.static.old.deny'])
    },
  )
})
