import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, describe, expect, test } from 'vitest'

import type { AppError } from '../../../src/errors/app-error.js'
import { hostBuiltins } from '../../../src/rego/builtins/index.js'
import { ownedRoots } from '../../../src/rego/archive/roots.js'
import { packBundle } from '../../../src/rego/bundle/pack-bundle.js'
import { compilePolicies } from '../../../src/rego/compile/compile-policies.js'
import { loadSnapshot } from '../../../src/rego/loading/load-snapshot.js'
import { findOpa } from '../../../src/rego/opa/find-opa.js'
import { runOpa } from '../../../src/rego/opa/run-opa.js'
import { parseRegoText } from '../../../src/rego/values/parse-text.js'
import type { RegoObject } from '../../../src/rego/values/value.js'
import { DEFAULT_LIMITS } from '../../support/default-limits.js'
import { packFiles } from '../../support/make-bundle.js'
import { compileRego } from '../../support/open-reader.js'
import { makeWorkspace } from '../../support/workspace.js'

const opa = await findOpa({ env: process.env })
const options = { findOpa: () => Promise.resolve(opa), builtins: hostBuiltins, limits: DEFAULT_LIMITS }
const workspace = makeWorkspace()
afterAll(workspace.remove)

type Files = Readonly<Record<string, string | Uint8Array>>

async function writeBundle(name: string, files: Files): Promise<string> {
  const file = join(workspace.path, name)
  writeFileSync(file, await packFiles(files))
  return file
}

async function refusal(
  bundles: readonly string[],
  directories: readonly string[] = [],
): Promise<AppError | undefined> {
  try {
    await loadSnapshot({ directories, bundles }, options)
    return undefined
  } catch (raw) {
    return raw as AppError
  }
}

async function isRefusedByOpa(bundles: readonly string[]): Promise<boolean> {
  const flags = bundles.flatMap((file) => ['--bundle', file])
  const { exitCode } = await runOpa(opa, ['eval', ...flags, 'data'], { cwd: workspace.path })
  return exitCode !== 0
}

const withRoots = (roots: unknown, data: string): Files => ({
  '/.manifest': JSON.stringify({ roots }),
  '/data.json': data,
})

describe('the roots of one bundle', () => {
  const kept: readonly (readonly [unknown, string])[] = [
    [['a'], '{"a":1}'],
    [['a/b'], '{"a":{"b":{"c":1}}}'],
    [['a/b', 'a/c'], '{"a":{"b":1,"c":2}}'],
    [['/a/'], '{"a":{"x":1}}'],
    [['a/b'], '{"a":{}}'],
    [null, '{"x":1}'],
    [[''], '{"x":1}'],
  ]
  test.each(kept)('%j permit %s, as OPA says', async (roots, data) => {
    const bundle = await writeBundle('kept.tar.gz', withRoots(roots, data))
    expect(await isRefusedByOpa([bundle])).toBe(false)
    expect(await refusal([bundle])).toBeUndefined()
  })

  const left: readonly (readonly [unknown, string, string])[] = [
    [['a'], '{"b":1}', 'data at /b'],
    [['a'], '{"ab":1}', 'data at /ab'],
    [['a/b'], '{"a":{"c":1}}', 'data at /a/c'],
    [['a/b'], '{"a":3}', 'data at /a'],
    [['a/b'], '{"c":{}}', 'data at /c'],
    [[], '{}', 'data at /'],
    [['a', 'a/b'], '{}', "the root 'a/b' is in the root 'a'"],
    [['', 'a'], '{}', "the root 'a' is in the root ''"],
    [['a', 'a'], '{}', "the root 'a' is in the root 'a'"],
    ['a', '{}', '.manifest'],
    [[7], '{}', '.manifest'],
  ]
  test.each(left)('%j do not permit %s, as OPA says', async (roots, data, message) => {
    const bundle = await writeBundle('left.tar.gz', withRoots(roots, data))
    expect(await isRefusedByOpa([bundle])).toBe(true)
    expect(await refusal([bundle])).toMatchObject({
      kind: 'invalid',
      message: expect.stringContaining(message) as unknown,
    })
  })

  test.each([
    [{ roots: ['a'] }, 'package b\n', 'package b'],
    [{ roots: ['a/b'] }, 'package a\n', 'package a'],
    [{ roots: ['a'] }, '# package a\npackage ab["c.d"]\n', 'package ab.c.d'],
    [
      { roots: ['a'], wasm: [{ entrypoint: 'b/c', module: '/policy.wasm' }] },
      'package a\n',
      'the entrypoint b/c',
    ],
    [{ roots: ['a'], wasm: [{ entrypoint: 'a/c', module: '/other.wasm' }] }, 'package a\n', '/other.wasm'],
  ])('%j do not permit the package or entrypoint of %j', async (manifest, rego, message) => {
    const wasm = await compileRego('package a\nc := 1\n')
    const files = { '.manifest': JSON.stringify(manifest), 'p.rego': rego, 'policy.wasm': wasm }
    const bundle = await writeBundle('wasm.tar.gz', files)
    expect(await isRefusedByOpa([bundle])).toBe(true)
    expect(await refusal([bundle])).toMatchObject({
      kind: 'invalid',
      message: expect.stringContaining(message) as unknown,
    })
  })

  test('do not permit what the module answers and the manifest does not tell', async () => {
    const wasm = await compileRego('package b\nc := 1\n')
    const bundle = await writeBundle('quiet.tar.gz', { '.manifest': '{"roots":["a"]}', 'policy.wasm': wasm })
    expect((await refusal([bundle]))?.message).toContain("roots ('a') do not permit: the entrypoint")
  })
})

describe('several bundles and directories', () => {
  test.each([
    [['a'], ['a/b'], true],
    [['a'], ['ab'], false],
    [['a/b'], ['a/c'], false],
    [['a/b'], ['a/b'], true],
    [null, ['x'], true],
    [['x'], [''], true],
  ])('whose roots are %j and %j are refused: %s, as OPA says', async (first, second, isRefused) => {
    const bundles = await Promise.all(
      [first, second].map((roots, index) => writeBundle(`two${index}.tar.gz`, withRoots(roots, '{}'))),
    )
    expect(await isRefusedByOpa(bundles)).toBe(isRefused)
    const error = await refusal(bundles)
    expect(error === undefined).toBe(!isRefused)
    if (error !== undefined) for (const bundle of bundles) expect(error.message).toContain(bundle)
  })

  test('do not change what the others say: all is refused, and both are named', async () => {
    const directory = workspace.write({ 'rules/p.rego': 'package team.rules\nallow = false\n' })
    const other = await writeBundle(
      'other.tar.gz',
      withRoots(['team/rules/limit'], '{"team":{"rules":{"limit":1}}}'),
    )
    const error = await refusal([other], [join(directory, 'rules')])
    expect(error).toMatchObject({ kind: 'invalid', code: 'overlapping_roots' })
    expect(error?.message).toContain(
      `${join(directory, 'rules')} owns 'team/rules' and ${other} owns 'team/rules/limit'`,
    )
    const apart = await writeBundle(
      'apart.tar.gz',
      withRoots(['team/settings'], '{"team":{"settings":{"limit":1}}}'),
    )
    expect(await refusal([apart], [join(directory, 'rules')])).toBeUndefined()
  })

  test('built apart load together', async () => {
    const build = async (name: string, rego: string, data: string): Promise<string> => {
      const directory = workspace.write({ [`${name}/p.rego`]: rego, [`${name}/data.json`]: data })
      const compiled = await compilePolicies(opa, [join(directory, name)])
      const file = join(workspace.path, `${name}.tar.gz`)
      writeFileSync(file, await packBundle(compiled, { revision: name }))
      return file
    }
    const bundles = [
      await build('one', 'package static.one\nallow = data.one.limit\n', '{"one":{"limit":1}}'),
      await build(
        'two',
        'package static.two\nf(x) = y { y := g(x) }\ng(x) = x { x }\nallow = f(2)\n',
        '{"two":1}',
      ),
    ]
    const snapshot = await loadSnapshot({ directories: [], bundles }, options)
    expect(snapshot.packages).toEqual(['static/one', 'static/two'])
    // OPA's static program has no engine for WASM, and looks at the roots before it finds out.
    const flags = bundles.flatMap((file) => ['--bundle', file])
    const { stdout } = await runOpa(opa, ['eval', ...flags, 'data'])
    expect(stdout).not.toContain('roots')
  })
})

test('data over a rule of the same bundle is refused with both names', async () => {
  const wasm = await compileRego('package a\nallow := true\n')
  const files = { 'p.rego': 'package a\n', 'data.json': '{"a":{"allow":false}}', 'policy.wasm': wasm }
  const bundle = await writeBundle('over.tar.gz', files)
  expect(await refusal([bundle])).toMatchObject({
    details: [
      {
        message: `conflicting rule for data path a/allow found: ${bundle}/data.json has a value there (the rule is in ${bundle})`,
      },
    ],
  })
})

test.each([
  [[['a', 'b']], '{}', ['a/b']],
  [[['a'], ['a', 'b']], '{"a":{"x":1}}', ['a']],
  [[['a', 'b']], '{"a":{"b":{"x":1},"c":{"y":1,"z":2}},"teams":{"t1":{},"t2":{}}}', ['a/b', 'a/c', 'teams']],
  [[['a', 'b']], '{"a":{"x/y":1}}', ['a']],
  [[], '{"a":{"b":1},"c":2}', ['a', 'c']],
])('packages %j and data %s own %j', (packages, data, roots) => {
  expect(ownedRoots(packages, parseRegoText(data) as RegoObject)).toEqual(roots)
})
