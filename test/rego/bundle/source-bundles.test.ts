import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, describe, expect, test } from 'vitest'

import type { AppError } from '../../../src/errors/app-error.js'
import { hostBuiltins } from '../../../src/rego/builtins/index.js'
import { evaluateStaticPolicies } from '../../../src/rego/evaluation/evaluate-static-policies.js'
import { newCall } from '../../../src/rego/evaluation/new-call.js'
import { selectPackages } from '../../../src/rego/evaluation/select-packages.js'
import { loadSnapshot } from '../../../src/rego/loading/load-snapshot.js'
import { findOpa } from '../../../src/rego/opa/find-opa.js'
import type { Snapshot } from '../../../src/rego/snapshot/snapshot.js'
import { DEFAULT_LIMITS } from '../../support/default-limits.js'
import { packFiles } from '../../support/make-bundle.js'
import { makeWorkspace } from '../../support/workspace.js'

const workspace = makeWorkspace()
afterAll(workspace.remove)

const V1 = 'import rego.v1\n'
const DENY = `package static.a\n${V1}import data.lib\ndeny contains lib.text if input.new.bad\n`
const LIB = `package lib\n${V1}text := sprintf("bad in %s", [data.places.first])\n`

async function bundle(name: string, roots: readonly string[], files: Readonly<Record<string, string>>) {
  const manifest = JSON.stringify({ revision: `${name}-1`, roots })
  const file = join(workspace.path, `${name}.tar.gz`)
  writeFileSync(file, await packFiles({ '.manifest': manifest, ...files }))
  return { source: name, file }
}

function load(
  downloads: readonly { readonly source: string; readonly file: string }[],
  directories: readonly string[] = [],
): Promise<Snapshot> {
  return loadSnapshot(
    { directories, bundles: [], downloads },
    { findOpa: () => findOpa({ env: process.env }), builtins: hostBuiltins, limits: DEFAULT_LIMITS },
  )
}

async function refusal(loading: Promise<Snapshot>): Promise<AppError> {
  return await loading.then(
    () => expect.fail('it was loaded'),
    (raw: unknown) => raw as AppError,
  )
}

function reasons(snapshot: Snapshot): readonly string[] {
  const { denials } = evaluateStaticPolicies(
    snapshot,
    selectPackages(snapshot, ['static.**']),
    Buffer.from('{"new": {"bad": true}}'),
    newCall(),
  )
  return denials.map(({ text }) => text)
}

describe('bundles of Rego', () => {
  test('are compiled together, so that one can use the rules and data of another', async () => {
    const one = await bundle('rules', ['static/a'], { 'static/a.rego': DENY })
    const two = await bundle('lib', ['lib', 'places'], {
      'lib.rego': LIB,
      'places/data.json': '{"first":"x"}',
    })
    const snapshot = await load([one, two])
    expect(reasons(snapshot)).toEqual(['bad in x'])
    expect(snapshot.revision).toBe('rules-1+lib-1')
    expect(snapshot.sources).toEqual([
      { name: 'rules', revision: 'rules-1' },
      { name: 'lib', revision: 'lib-1' },
    ])
  })

  test('are compiled with directories, whose files keep their names in errors', async () => {
    workspace.write({ 'own/lib.rego': LIB, 'own/places/data.json': '{"first":"here"}' })
    const one = await bundle('rules', ['static/a'], { 'static/a.rego': DENY })
    const snapshot = await load([one], [join(workspace.path, 'own')])
    expect(reasons(snapshot)).toEqual(['bad in here'])
    expect(snapshot.sources.map(({ name }) => name)).toEqual(['own', 'rules'])
    expect(snapshot.sourcesOf('static/a').map(({ file }) => file)).toEqual(['rules/static/a.rego'])
    expect(snapshot.sourcesOf('lib').map(({ file }) => file)).toEqual(['lib.rego'])
  })

  test('are refused when their roots overlap, or those of a directory', async () => {
    const one = await bundle('one', ['static'], { 'static/a.rego': `package static.a\n${V1}deny := set()\n` })
    const two = await bundle('two', ['static/b'], { 'b.rego': `package static.b\n${V1}deny := set()\n` })
    expect((await refusal(load([one, two]))).message).toContain("one owns 'static' and two owns 'static/b'")
    workspace.write({ 'taken/c.rego': `package static.c\n${V1}deny := set()\n` })
    const taken = await refusal(load([one], [join(workspace.path, 'taken')]))
    expect(taken.message).toContain("owns 'static/c' and one owns 'static'")
  })

  test.each([
    ['a package', { 'a.rego': `package static.b\n${V1}deny := set()\n` }, 'package static.b'],
    [
      'data',
      { 'a.rego': DENY.replace('lib.text', '"x"').replace('import data.lib\n', ''), 'data.json': '{"x":1}' },
      'data at /x',
    ],
  ])('are refused with %s outside of their roots', async (_, files, says) => {
    const found = await refusal(load([await bundle('outside', ['static/a'], files)]))
    expect(found.message).toContain('holds what its manifest')
    expect(found.message).toContain(says)
  })

  test('leave out their tests, and name the file of a mistake by their source', async () => {
    const rego = `package static.a\n${V1}deny contains "bad" if input.new.bad\n`
    const test = `package static.a_test\n${V1}test_it if undefined_function(1)\n`
    const fine = await bundle('tested', [''], { 'a.rego': rego, 'a_test.rego': test })
    expect(reasons(await load([fine]))).toEqual(['bad'])
    const broken = await bundle('broken', [''], { 'a.rego': `${rego}x := undefined_function(1)\n` })
    const { details } = await refusal(load([broken]))
    expect(details.map(({ location }) => location?.file)).toContain('broken/a.rego')
  })
})
