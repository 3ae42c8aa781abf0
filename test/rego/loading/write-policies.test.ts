import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'

import { AppError } from '../../../src/errors/app-error.js'
import { hostBuiltins } from '../../../src/rego/builtins/index.js'
import { Policies } from '../../../src/rego/loading/policies.js'
import { findOpa } from '../../../src/rego/opa/find-opa.js'
import { deleteModule, putModule } from '../../../src/rego/writing/stored-policies.js'
import { NOTHING_WRITTEN } from '../../../src/rego/writing/written-policies.js'
import { DEFAULT_LIMITS } from '../../support/default-limits.js'
import { makeWorkspace } from '../../support/workspace.js'

const workspace = makeWorkspace()
afterAll(workspace.remove)

const HEAD = 'import rego.v1\n'
let count = 0

async function open(files: Readonly<Record<string, string>>): Promise<Policies> {
  count += 1
  const directory = join(workspace.path, String(count))
  workspace.write(
    Object.fromEntries(Object.entries(files).map(([name, text]) => [join(String(count), name), text])),
  )
  const options = {
    findOpa: () => findOpa({ env: process.env }),
    builtins: hostBuiltins,
    limits: DEFAULT_LIMITS,
    written: NOTHING_WRITTEN,
  }
  const silent = { loaded: () => undefined, failed: () => undefined }
  return await Policies.open({ directories: [directory], bundles: [] }, options, silent)
}

async function put(policies: Policies, id: string, text: string): Promise<boolean> {
  return await policies.write({
    apply: (_, written) => putModule(written, id, text),
    record: () => Promise.resolve(),
  })
}

async function refusalOf(work: Promise<unknown>): Promise<AppError> {
  return await work.then(
    () => {
      throw new Error('accepted')
    },
    (raw: unknown) => raw as AppError,
  )
}

const idsOf = ({ current }: Policies): string[] => (current.stored?.modules ?? []).map(({ id }) => id).sort()

describe('a written policy', () => {
  test('replaces the policy of a file with its id, and deleting it brings none back', async () => {
    const policies = await open({ 'app.rego': `package app\n${HEAD}x := 1`, 'data.json': '{}' })
    await put(policies, 'app.rego', `package app\n${HEAD}y := 1`)
    expect([...policies.current.entrypoints.keys()].sort()).toEqual(['', 'app', 'app/y'])
    await policies.write({
      apply: ({ stored }, written) => (stored ? deleteModule(written, 'app.rego', stored) : written),
      record: () => Promise.resolve(),
    })
    expect(idsOf(policies)).toEqual([])
    await policies.reload()
    expect(idsOf(policies)).toEqual([])
  })

  test('stays when files are loaded again', async () => {
    const policies = await open({ 'app.rego': `package app\n${HEAD}x := 1` })
    await put(policies, 'team/more', `package more\n${HEAD}x := 1`)
    await policies.reload()
    expect(idsOf(policies)).toEqual(['app.rego', 'team/more'])
  })

  test('that does not compile changes nothing, and its id is the file of the errors', async () => {
    const policies = await open({ 'app.rego': `package app\n${HEAD}x := 1` })
    const before = policies.current
    const { kind, details } = await refusalOf(put(policies, 'a/bad', `package bad\n${HEAD}x := y`))
    // The column is that of the variable in OPA 1.x, and of the rule in 0.70.
    expect([kind, details[0]?.location]).toMatchObject(['invalid', { file: 'a/bad', row: 3 }])
    expect([policies.current, policies.failure]).toEqual([before, undefined])
  })

  test('that is not recorded does not serve', async () => {
    const policies = await open({ 'app.rego': `package app\n${HEAD}x := 1` })
    const change = {
      apply: (_: unknown, written: typeof NOTHING_WRITTEN) => putModule(written, 'b', 'package b'),
      record: () => Promise.reject(new AppError('unavailable', 'the store is away')),
    }
    expect((await refusalOf(policies.write(change))).message).toBe('the store is away')
    expect(idsOf(policies)).toEqual(['app.rego'])
  })

  test('is never lost to another that is written at the same time', async () => {
    const policies = await open({ 'data.json': '{"z":1}' })
    const ids = ['a', 'b', 'c', 'd']
    await Promise.all(ids.map((id) => put(policies, id, `package ${id}\n${HEAD}x := 1`)))
    expect(idsOf(policies)).toEqual(ids)
  })

  test('is refused beyond the size that a service holds', async () => {
    const policies = await open({ 'data.json': '{"z":1}' })
    const long = `package long\n# ${'x'.repeat(65 * 1024 * 1024)}`
    expect((await refusalOf(put(policies, 'long', long))).kind).toBe('too_large')
  })
})

test('a service with writable policies starts from an empty directory', async () => {
  const policies = await open({ 'notes.txt': 'nothing yet' })
  expect(policies.current.packages).toEqual([])
  await put(policies, 'first', `package first\n${HEAD}x := 1`)
  expect(policies.current.packages).toEqual(['first'])
})
