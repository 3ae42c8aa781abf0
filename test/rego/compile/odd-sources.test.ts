import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, describe, expect, test } from 'vitest'

import { AppError } from '../../../src/errors/app-error.js'
import { hostBuiltins } from '../../../src/rego/builtins/index.js'
import { loadSnapshot } from '../../../src/rego/loading/load-snapshot.js'
import { findOpa } from '../../../src/rego/opa/find-opa.js'
import { DEFAULT_LIMITS } from '../../support/default-limits.js'
import { makeWorkspace } from '../../support/workspace.js'

const workspace = makeWorkspace()
afterAll(workspace.remove)

const POLICY = 'package static.hours\nimport rego.v1\ndeny contains "closed" if input.hour > 5\n'

async function load(name: string, files: Readonly<Record<string, string | Uint8Array>>) {
  const directory = join(workspace.path, name)
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(join(directory, file, '..'), { recursive: true })
    writeFileSync(join(directory, file), content)
  }
  return await loadSnapshot(
    { directories: [directory], bundles: [] },
    {
      findOpa: () => findOpa({ env: process.env }),
      builtins: hostBuiltins,
      limits: DEFAULT_LIMITS,
      analysis: { staticPackages: ['static.**'], undefinedData: 'warn' },
    },
  )
}

/** `code file:row:col message`, with files below the directory. */
async function toldOf(...what: Parameters<typeof load>): Promise<string[]> {
  const details = await load(...what).then(
    ({ warnings }) => warnings,
    (raw: unknown) => (raw instanceof AppError ? raw.details : Promise.reject(raw as Error)),
  )
  return details.map(({ code, message, location }) => {
    const place = location === undefined ? '' : `${location.file}:${location.row}:${location.col}`
    return `${code} ${place} ${message}`.replaceAll(`${join(workspace.path, what[0])}/`, '')
  })
}

describe('Rego that is no UTF-8', () => {
  test('is refused wherever that is, each file at its first place', async () => {
    const latin = (text: string): Uint8Array => Buffer.from(text, 'latin1')
    const told = await toldOf('latin', {
      'a.rego': latin('package static.a\nimport rego.v1\ndeny contains "é" if input.a\n'),
      'b.rego': latin('package static.b\n# ü is told, é is not\nx := 1\n'),
      'good.rego': 'package static.c\nimport rego.v1\ndeny contains "é" if input.a\n',
    })
    expect(told).toEqual([
      'rego_parse_error a.rego:3:16 illegal utf-8 character',
      'rego_parse_error b.rego:2:3 illegal utf-8 character',
    ])
  })
})

describe('errors of compiling', () => {
  test('name no file by another name than its own, in their texts either', async () => {
    const told = await toldOf('conflict', {
      'above.rego': 'package static.b\nimport rego.v1\nc := 1\n',
      'below/below.rego': 'package static.b.c\nimport rego.v1\nd := 1\n',
    })
    expect(told.length).toBeGreaterThan(0)
    expect(told.join('\n')).toContain('package static.b.c conflicts with rule c defined at above.rego:3')
    expect(told.join('\n')).not.toMatch(/\b\d+\/\w+\.rego/)
  })

  test('of types say what is there and what should be', async () => {
    const text = 'package p\nimport rego.v1\na if count(1) > 2\nb := {"x": 1}.y\nc := "a" + 1\n'
    const told = await toldOf('types', { 'p.rego': text })
    expect(told[0]).toMatch(
      /^rego_type_error p\.rego:3:6 count: invalid argument\(s\)\n {2}have: \(number, .*\n {2}want: \(collection: /,
    )
    expect(told.at(-1)).toContain(
      '\n  have: (string, number, ???)\n  want: (x: number, y: number, z: number)',
    )
  })
})

describe('files that OPA would read and that do not serve', () => {
  const OTHER = 'package static.stress\nimport rego.v1\ndeny contains "x" if input.x\n'

  test.each([
    ['a policy that is named like a test', 'stress_test.rego', OTHER, 3],
    ['a policy whose name begins with a dot', '.stress.rego', OTHER, 3],
    [
      'a verdict below the package',
      'a_test.rego',
      'package static.stress\nimport rego.v1\n\nprod.deny contains "x" if input.x\n',
      4,
    ],
    [
      'a verdict among tests of the same package',
      'hours_test.rego',
      'package static.hours\nimport rego.v1\ntest_a if true\ndefault allow := false\n',
      4,
    ],
  ])('%s is told', async (_what, file, text, row) => {
    const told = await toldOf(_what.replaceAll(' ', '-'), { 'hours.rego': POLICY, [file]: text })
    expect(told).toHaveLength(1)
    expect(told[0]).toMatch(new RegExp(`^unserved_verdict ${file}:${row}:\\d+ .* is never evaluated`))
  })

  test.each([
    [
      'rules that help tests in a package of their own',
      'hours_test.rego',
      'package static.hours_test\nimport rego.v1\ndeny contains 1 if true\ntest_a if count(deny) == 1\n',
    ],
    ['tests that only use a verdict', 'hours_test.rego', POLICY.replace('deny', 'test_deny')],
    ['a package that nobody asks', 'lib_test.rego', OTHER.replace('static.stress', 'lib')],
    ['a test that does not parse', 'hours_test.rego', 'package static.hours\ntest_a if {\n(('],
  ])('%s are not', async (what, file, text) => {
    expect(await toldOf(what.replaceAll(' ', '-'), { 'hours.rego': POLICY, [file]: text })).toEqual([])
  })

  test('JSON of another name than data.json is named where its data is missed, and only there', async () => {
    const reading = POLICY.replace('> 5', '> data.limits.close')
    const told = await toldOf('unread', { 'hours.rego': reading, 'limits.json': '{"limits": {"close": 5}}' })
    expect(told).toEqual([
      expect.stringContaining('; not read: limits.json, since data is in files named data.json, data.yaml'),
    ])
    expect(await toldOf('fixtures', { 'hours.rego': POLICY, 'limits.json': '{' })).toEqual([])
    const elsewhere = await toldOf('elsewhere', { 'hours.rego': reading, 'a/limits.json': '{}' })
    expect(elsewhere).toEqual([expect.not.stringContaining('not read')])
  })
})
