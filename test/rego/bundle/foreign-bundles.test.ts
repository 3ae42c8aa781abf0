import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, describe, expect, test } from 'vitest'

import { AppError } from '../../../src/errors/app-error.js'
import { unpackBundle } from '../../../src/rego/archive/unpack-bundle.js'
import { hostBuiltins } from '../../../src/rego/builtins/index.js'
import { planDocument } from '../../../src/rego/evaluation/evaluate-document.js'
import { evaluateRuntimePolicy } from '../../../src/rego/evaluation/evaluate-runtime-policy.js'
import { evaluateStaticPolicies } from '../../../src/rego/evaluation/evaluate-static-policies.js'
import { loadSnapshot } from '../../../src/rego/loading/load-snapshot.js'
import { newCall } from '../../../src/rego/evaluation/new-call.js'
import { findOpa } from '../../../src/rego/opa/find-opa.js'
import { selectPackages } from '../../../src/rego/evaluation/select-packages.js'
import type { Snapshot } from '../../../src/rego/snapshot/snapshot.js'
import { DEFAULT_LIMITS } from '../../support/default-limits.js'
import { packFiles } from '../../support/make-bundle.js'
import { makeWorkspace } from '../../support/workspace.js'

const opa = await findOpa({ env: process.env })
const workspace = makeWorkspace()
afterAll(workspace.remove)

const V1 = 'import rego.v1\n'
const A = { 'a.rego': `package static.a\n${V1}deny contains "a" if input.new.bad\n` }
const B = { 'b.rego': `package static.b\n${V1}deny contains "b" if input.new.bad\n` }
const BAD = '{"new": {"bad": true}, "executionId": "01J0"}'
let made = 0

/** Compiles files with `opa build`. Returns the path of the bundle. */
function opaBuild(
  files: Readonly<Record<string, string>>,
  entrypoints: readonly string[],
  target = 'wasm',
): string {
  const directory = `case-${made++}`
  workspace.write(
    Object.fromEntries(Object.entries(files).map(([name, text]) => [`${directory}/${name}`, text])),
  )
  const file = join(workspace.path, `${directory}.tar.gz`)
  const flags = entrypoints.flatMap((entrypoint) => ['-e', entrypoint])
  execFileSync(opa.path, ['build', '-t', target, ...flags, '-o', file, '.'], {
    cwd: join(workspace.path, directory),
  })
  return file
}

/** The bundle with only some of its files. */
async function repack(file: string, isKept: (name: string) => boolean): Promise<string> {
  const files = await unpackBundle(file, readFileSync(file))
  const changed = `${file}-${made++}.tar.gz`
  writeFileSync(changed, await packFiles(Object.fromEntries([...files].filter(([name]) => isKept(name)))))
  return changed
}

function load(...bundles: readonly string[]): Promise<Snapshot> {
  return loadSnapshot(
    { directories: [], bundles },
    {
      findOpa: () => Promise.resolve(opa),
      builtins: hostBuiltins,
      limits: DEFAULT_LIMITS,
      analysis: { staticPackages: ['static.**'], undefinedData: 'warn' },
    },
  )
}

function staticTexts(snapshot: Snapshot, input = BAD): string[] {
  const packages = selectPackages(snapshot, ['static.**'])
  return evaluateStaticPolicies(snapshot, packages, Buffer.from(input), newCall()).denials.map(
    ({ text }) => text,
  )
}

async function refusal(file: string): Promise<AppError> {
  const outcome: unknown = await load(file).catch((raw: unknown) => raw)
  if (outcome instanceof AppError) return outcome
  throw new Error('the bundle was not refused')
}

describe('a bundle made elsewhere', () => {
  test.each([
    ['a package', { ...A, ...B }, ['static/a/deny'], 'static.b', 'deny'],
    [
      'one of two verdict rules',
      { ...A, 'v.rego': `package static.a\n${V1}violation contains "v" if input.new.bad\n` },
      ['static/a/deny'],
      'static.a',
      'violation',
    ],
    [
      'a runtime package',
      { ...A, 'r.rego': `package runtime.r\n${V1}default allow := false\n` },
      ['static/a'],
      'runtime.r',
      'allow',
    ],
    [
      'a verdict of a document of a package',
      { ...A, 'p.rego': `package static.p\n${V1}prod.deny contains "p" if input.new.bad\n` },
      ['static/a'],
      'static.p.prod',
      'deny',
    ],
    [
      'a package with an odd name',
      { ...A, 'o.rego': `package static["a/b c"]\n${V1}deny contains "o"\n` },
      ['static/a'],
      'static["a/b c"]',
      'deny',
    ],
  ])('is refused when it has no entrypoint for %s', async (_name, files, entrypoints, name, rule) => {
    const error = await refusal(opaBuild(files, entrypoints))
    expect(error).toMatchObject({ kind: 'invalid', code: 'missing_entrypoint' })
    expect(error.details).toHaveLength(1)
    expect(error.details[0]?.message).toContain(`package ${name} has the rule ${rule} but no entrypoint`)
    expect(error.details[0]?.message).toContain('opa build --target wasm --entrypoint')
  })

  test('is refused for each of two documents that differ in their dots alone', async () => {
    const rules = [
      'prod.a.b.deny contains "p" if input.new.bad',
      'prod["a.b"].deny contains "q" if input.new.bad',
    ]
    const files = { ...A, 'p.rego': `package static.p\n${V1}${rules.join('\n')}\n` }
    const { details } = await refusal(opaBuild(files, ['static/a']))
    expect(details.map(({ message }) => message)).toEqual([
      expect.stringContaining('package static.p.prod.a.b has the rule deny but no entrypoint'),
      expect.stringContaining('package static.p.prod["a.b"] has the rule deny but no entrypoint'),
    ])
  })

  test.each([
    ['each package', ['static/a', 'static/b']],
    ['each rule', ['static/a/deny', 'static/b/deny']],
    ['the document above', ['static']],
    ['the document above and one rule', ['static', 'static/b/deny']],
  ])('is asked for all its packages with an entrypoint for %s', async (_name, entrypoints) => {
    const snapshot = await load(opaBuild({ ...A, ...B }, entrypoints))
    expect(snapshot.warnings).toEqual([])
    expect(staticTexts(snapshot)).toEqual(['a', 'b'])
    expect(staticTexts(snapshot, '{"new": {}}')).toEqual([])
  })

  test('is asked for the rules that only the document above answers, next to those of their own', async () => {
    const files = { ...A, 'v.rego': `package static.a\n${V1}violation contains "v" if input.new.bad\n` }
    expect(staticTexts(await load(opaBuild(files, ['static', 'static/a/deny'])))).toEqual(['a', 'v'])
  })

  test('is asked for an allow rule that is the only entrypoint of its package', async () => {
    const allow = { 'c.rego': `package static.c\n${V1}default allow := false\nallow if not input.new.bad\n` }
    const snapshot = await load(opaBuild({ ...A, ...allow }, ['static/a', 'static/c/allow']))
    expect(staticTexts(snapshot)).toEqual(['a', 'static.c.allow is not true'])
    expect(staticTexts(snapshot, '{"new": {}}')).toEqual([])
  })

  test('never allows by a path below which a package cannot be asked, and tells of it', async () => {
    const files = {
      'x.rego': `package gates.x\n${V1}deny contains "x" if false\n`,
      'y.rego': `package gates.y\n${V1}deny contains "y"\n`,
    }
    const snapshot = await load(opaBuild(files, ['gates/x']))
    expect(snapshot.warnings).toMatchObject([{ code: 'missing_entrypoint' }])
    expect(snapshot.warnings[0]?.message).toContain('package gates.y has the rule deny')
    for (const path of [['gates'], ['gates', 'y'], ['gates', 'y', 'deny']])
      expect(() => evaluateRuntimePolicy(planDocument(snapshot, path), Buffer.from(BAD), newCall())).toThrow(
        expect.objectContaining({ code: 'undefined_policy' }),
      )
    expect(
      evaluateRuntimePolicy(planDocument(snapshot, ['gates', 'x']), Buffer.from(BAD), newCall()),
    ).toEqual([])
  })

  test('without its Rego is asked for what its entrypoints name, and tells that there may be more', async () => {
    const whole = opaBuild({ ...A, ...B }, ['static/a/deny', 'static/b'])
    const snapshot = await load(await repack(whole, (name) => !name.endsWith('.rego')))
    expect(snapshot.warnings).toMatchObject([{ code: 'unlisted_packages' }])
    expect(snapshot.warnings[0]?.message).toContain('are evaluated (static.a, static.b)')
    expect(snapshot.warnings[0]?.message).toContain('that OPA compiles wrongly cannot be found')
    expect(staticTexts(snapshot)).toEqual(['a', 'b'])
  })

  test('that holds a plan in place of a module is refused', async () => {
    const plan = opaBuild(A, ['static/a'], 'plan')
    expect((await refusal(plan)).message).toContain('has no policy.wasm')
    const bare = await repack(plan, (name) => !name.endsWith('.rego'))
    expect((await refusal(bare)).message).toContain('has no policy.wasm')
  })

  test('is refused when its module lacks an entrypoint that its manifest names', async () => {
    const [both, one] = [opaBuild({ ...A, ...B }, ['static/a', 'static/b']), opaBuild(A, ['static/a'])]
    const files = await unpackBundle(both, readFileSync(both))
    const other = await unpackBundle(one, readFileSync(one))
    const mixed = join(workspace.path, 'mixed.tar.gz')
    const module = other.get('policy.wasm') ?? Buffer.alloc(0)
    writeFileSync(mixed, await packFiles({ ...Object.fromEntries(files), 'policy.wasm': module }))
    expect((await refusal(mixed)).message).toContain('lacks entrypoints that it should have: static/b')
  })
})

describe('the Rego in a bundle', () => {
  test('is looked through for mistakes that compile, as that of a directory is', async () => {
    const files = {
      'h.rego': `package static.h\n${V1}deny contains "closed" if input.new.hour > data.hours.close\n`,
      'o.rego': `package static.o\n${V1}denied contains "nobody" if not input.new.owner\n`,
      'data.json': '{"hours": {"closes": 22}}',
    }
    const { warnings } = await load(opaBuild(files, ['static/h', 'static/o']))
    expect(warnings.map(({ code, location }) => [code, location?.row])).toEqual([
      ['undefined_data', 5],
      ['misnamed_verdict', 5],
    ])
    expect(warnings[0]?.message).toContain('did you mean data.hours.closes?')
    expect(warnings[0]?.location?.file).toMatch(/\.tar\.gz\/h\.rego$/)
  })

  test('is not blamed for rules that were compiled away', async () => {
    const files = {
      'p.rego': `package static.p\n${V1}deny contains "d" if denied\ndenied if input.new.bad\n`,
      'q.rego': `package static.q\n${V1}deny contains "q" if data.static.p.deny["d"]\n`,
    }
    const { warnings } = await load(opaBuild(files, ['static/p/deny', 'static/q']))
    expect(warnings).toEqual([])
  })
})

describe('a bundle with lookups of rules by a variable', () => {
  const lib = (body: string): Record<string, string> => ({
    'q.rego': `package static.q\n${V1}deny contains "q" if data.lib.lost\n`,
    'lib.rego': `package lib\n${V1}lost if ${body}\n`,
    'x.rego': `package svc.x\n${V1}v := 1\n`,
    'y.rego': `package svc.y\n${V1}v := 2\n`,
  })

  test('is refused where OPA compiled one to code that answers differently', async () => {
    const error = await refusal(opaBuild(lib('not data.svc[input.new.x].v == 7'), ['static/q/deny']))
    expect(error).toMatchObject({
      kind: 'invalid',
      message: expect.stringContaining('tidegate build') as string,
      details: [{ code: 'lost_in_compiling', location: { col: 9 } }],
    })
    expect(error.details[0]?.location?.file).toMatch(/\.tar\.gz\/lib\.rego$/)
  })

  test('is loaded where OPA compiled them right', async () => {
    const snapshot = await load(opaBuild(lib('data.svc[input.new.x].v == 1'), ['static/q/deny']))
    expect(staticTexts(snapshot, '{"new": {"x": "x"}, "executionId": "01J0"}')).toEqual(['q'])
  })
})

test('a delta bundle is refused, since it serves nothing', async () => {
  const file = join(workspace.path, 'delta.tar.gz')
  writeFileSync(file, await packFiles({ 'patch.json': '{"data": []}', '.manifest': '{"roots": ["a"]}' }))
  const error = await refusal(file)
  expect(error).toMatchObject({ kind: 'invalid', message: expect.stringContaining('delta bundle') as string })
})
