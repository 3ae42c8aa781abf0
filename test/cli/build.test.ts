import { cpSync, readFileSync, readdirSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'

import { afterAll, describe, expect, test } from 'vitest'

import { readBundle } from '../../src/rego/archive/read-bundle.js'
import { unpackBundle } from '../../src/rego/archive/unpack-bundle.js'
import { runTidegate } from '../support/run-tidegate.js'
import { makeWorkspace } from '../support/workspace.js'

/** Exceeds the name field of an archive header. */
const LONG_NAME = 'waiting-'.repeat(20)

const workspace = makeWorkspace({
  'policies/a.rego': 'package a.b\nallow = true\nreasons contains "x" if false\n',
  'policies/data.json': '{"limit": 1.50}',
  'policies/a_test.rego': 'package a.b_test\ntest_x { true }\n',
  'data/data.json': '{}',
  'owned/.manifest': '{"revision": "seven", "roots": ["a"], "metadata": {"team": "x"}, "wasm": []}',
  'owned/a.rego': 'package a.b\nallow = data.a.users["x"]\n',
  'owned/a/users.json': '{"users": {"x": true}}',
  'owned/a/data.json': '{"limit": 1}',
  'outside/.manifest': '{"roots": ["b"]}',
  'outside/a.rego': 'package a.b\nallow = true\n',
  'wrong/.manifest': '{"roots": 1}',
  'wrong/a.rego': 'package a.b\nallow = true\n',
  'broken/a.rego': 'package a\nallow {\n',
  'clashing/rules/a.rego': 'package a\n\nx = 1 { input.a }\nx = 2 { input.b }\n',
  'calling/a.rego': 'package a\nallow { http.send({}) }\n',
  [`long/${LONG_NAME}.rego`]: 'package a\nx = 1 { input.a }\nx = 2 { input.b }\n',
})
const { path: cwd } = workspace
afterAll(workspace.remove)

const bytesOf = (file: string): Buffer => readFileSync(join(cwd, file))

describe('build', () => {
  test('writes a bundle with module, data and manifest, without the tests', async () => {
    const args = ['build', 'policies', '-o', 'out/b.tar.gz', '--revision', '2.1.0']
    const { exitCode, stdout, stderr } = await runTidegate(args, { cwd })
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    expect(stdout).toMatch(/^out\/b\.tar\.gz: 1 package, \d+ bytes, revision 2\.1\.0\n$/)
    const bundle = readBundle('b', await unpackBundle('b', bytesOf('out/b.tar.gz')))
    expect(bundle).toMatchObject({
      revision: '2.1.0',
      roots: ['a/b', 'limit'],
      index: { packages: [['a', 'b']], rules: ['a/b/allow', 'a/b/reasons'] },
    })
    expect([...bundle.data].map(([file, text]) => [file, text.toString()])).toEqual([
      ['data.json', '{"limit":1.50}'],
    ])
    expect(bundle.wasm?.length).toBeGreaterThan(1000)
    expect(readdirSync(join(cwd, 'out'))).toEqual(['b.tar.gz'])
  })

  test('takes revision, roots and metadata of the manifest next to the policies, but for what flags say', async () => {
    const build = (...args: readonly string[]) =>
      runTidegate(['build', ...args, '-o', 'owned.tar.gz'], { cwd })
    const manifest = async (): Promise<unknown> => {
      const files = await unpackBundle('b', bytesOf('owned.tar.gz'))
      return JSON.parse(files.get('.manifest')?.toString() ?? '')
    }
    expect(await build('owned')).toMatchObject({ exitCode: 0 })
    expect(await manifest()).toMatchObject({ revision: 'seven', roots: ['a'], metadata: { team: 'x' } })
    await build('owned', '-r', 'eight', '--root', 'a/b', '--root', 'a/limit')
    expect(await manifest()).toMatchObject({ revision: 'eight', roots: ['a/b', 'a/limit'] })
  })

  test('refuses packages outside of those roots, and a manifest that is none', async () => {
    const build = (directory: string) => runTidegate(['build', directory, '-o', 'none.tar.gz'], { cwd })
    expect(await build('outside')).toEqual({
      exitCode: 2,
      stdout: '',
      stderr:
        "tidegate: the bundle none.tar.gz holds what its manifest's roots ('b') do not permit: package a.b\n",
    })
    const { exitCode, stderr } = await build('wrong')
    expect(exitCode).toBe(2)
    expect(stderr).toContain('read wrong/.manifest: ')
  })

  test('takes all JSON and YAML of a directory that -d names', async () => {
    const flags = ['build', '-d', 'owned', '-o', 'whole.tar.gz']
    expect(await runTidegate(flags, { cwd })).toMatchObject({ exitCode: 0, stderr: '' })
    const ask = ['eval', '-b', 'whole.tar.gz', '-f', 'raw', 'data.a.b.allow']
    expect(await runTidegate(ask, { cwd })).toMatchObject({ stdout: 'true\n' })
    expect(await runTidegate(['build'], { cwd })).toMatchObject({ exitCode: 2 })
  })

  test('gives the same bytes for the same sources', async () => {
    await runTidegate(['build', 'policies', '-o', 'first.tar.gz'], { cwd })
    await runTidegate(['build', 'policies', '-o', 'second.tar.gz'], { cwd })
    expect(bytesOf('first.tar.gz').equals(bytesOf('second.tar.gz'))).toBe(true)
  })

  test('gives the same bytes in another directory, from older files, and tells nothing of the machine', async () => {
    const other = makeWorkspace()
    cpSync(join(cwd, 'policies'), join(other.path, 'deeper', 'rules'), { recursive: true })
    utimesSync(join(other.path, 'deeper', 'rules', 'a.rego'), 1e9, 1e9)
    const path = join(other.path, 'deeper', 'rules')
    await runTidegate(['build', 'policies', '-o', 'here.tar.gz'], { cwd })
    await runTidegate(['build', path, '-o', 'there.tar.gz'], { cwd, env: { TZ: 'Asia/Tokyo' } })
    other.remove()
    expect(bytesOf('here.tar.gz').equals(bytesOf('there.tar.gz'))).toBe(true)
    expect(gunzipSync(bytesOf('there.tar.gz')).includes(other.path)).toBe(false)
  })

  test('keeps the names of the source files for the errors of an evaluation', async () => {
    await runTidegate(['build', 'clashing', '-o', 'clashing.tar.gz'], { cwd })
    const { exitCode, stderr } = await runTidegate(
      ['eval', '--bundle', 'clashing.tar.gz', '--entrypoint', 'a/x', '--input', '-'],
      { cwd, stdin: '{"a": true, "b": true}' },
    )
    expect(exitCode).toBe(2)
    expect(stderr).toMatch(/clashing\.tar\.gz\/rules\/a\.rego:4:\d+: eval_conflict_error/)
  })

  test('takes files of any name, and keeps them whole', async () => {
    await runTidegate(['build', 'long', '-o', 'long.tar.gz'], { cwd })
    const { stderr } = await runTidegate(
      ['eval', '--bundle', 'long.tar.gz', '--entrypoint', 'a/x', '--input', '-'],
      { cwd, stdin: '{"a": true, "b": true}' },
    )
    expect(stderr).toContain(`${LONG_NAME}.rego:3:`)
  })

  test('tells programs what it made', async () => {
    const { stdout } = await runTidegate(['build', 'policies', '-o', 'j.tar.gz', '--format', 'json'], { cwd })
    expect(JSON.parse(stdout)).toEqual({
      file: 'j.tar.gz',
      revision: expect.stringMatching(/^sha256:[0-9a-f]{16}$/) as unknown,
      bytes: bytesOf('j.tar.gz').length,
      packages: 1,
      warnings: [],
    })
  })

  test.each([
    ['broken', /broken\/a\.rego:\d+: rego_parse_error/],
    ['calling', /call built-in functions that are not available: http\.send/],
    ['data', /^tidegate: there is no Rego to build a bundle of\n$/],
    ['absent', /^tidegate: read policies: .* not found: name existing policies/],
  ])('leaves the present bundle as it is when %s cannot be built', async (source, message) => {
    workspace.write({ 'kept/b.tar.gz': 'kept' })
    const { exitCode, stdout, stderr } = await runTidegate(['build', source, '-o', 'kept/b.tar.gz'], { cwd })
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).toMatch(message)
    expect(bytesOf('kept/b.tar.gz').toString()).toBe('kept')
    expect(readdirSync(join(cwd, 'kept'))).toEqual(['b.tar.gz'])
  })

  test('says why the file cannot be written', async () => {
    const { exitCode, stderr } = await runTidegate(['build', 'policies', '-o', 'policies/a.rego/b.tar.gz'], {
      cwd,
    })
    expect(exitCode).toBe(2)
    expect(stderr).toMatch(/^tidegate: write policies\/a\.rego\/b\.tar\.gz: (?:EEXIST|ENOTDIR)/)
  })
})
