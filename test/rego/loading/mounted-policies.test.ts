import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, onTestFinished, test, vi } from 'vitest'

import { hostBuiltins } from '../../../src/rego/builtins/index.js'
import { Policies } from '../../../src/rego/loading/policies.js'
import { noteFiles, watchPolicies } from '../../../src/rego/loading/watch-policies.js'
import { findOpa } from '../../../src/rego/opa/find-opa.js'
import { DEFAULT_LIMITS } from '../../support/default-limits.js'
import { makeWorkspace } from '../../support/workspace.js'
import { PATIENT } from '../../support/wait-until.js'

// It finds the same, seconds later.
vi.mock('../../../src/rego/loading/tree-check.js', () => ({
  versionOfTrees: () => Promise.resolve(''),
  TreeCheck: class {
    readonly start = (): void => undefined
    readonly stop = (): void => undefined
    readonly note = (): Promise<void> => Promise.resolve()
  },
}))

/** Lays out a ConfigMap as Kubernetes does, or has another version of it in its place. */
function mount(root: string, version: number): void {
  const directory = `..version${version}`
  mkdirSync(join(root, directory))
  writeFileSync(join(root, directory, 'data.json'), JSON.stringify({ version }))
  symlinkSync(directory, join(root, '..next'))
  renameSync(join(root, '..next'), join(root, '..data'))
  if (version === 1) symlinkSync(join('..data', 'data.json'), join(root, 'data.json'))
}

test.each([
  ['the directory whose files lead through it', ''],
  ['the link itself', '..data'],
])('a ConfigMap that is replaced serves without a look at all files, mounted as %s', async (_, below) => {
  const { path, remove } = makeWorkspace()
  onTestFinished(remove)
  mount(path, 1)
  const directories = [join(path, below)]
  const options = { findOpa: () => findOpa({ env: {} }), builtins: hostBuiltins, limits: DEFAULT_LIMITS }
  const failed = vi.fn()
  const observer = { loaded: () => undefined, failed }
  const policies = await Policies.open({ directories, bundles: [] }, options, observer)
  const noted = await noteFiles(directories, [])
  const watcher = await watchPolicies(policies, { noted, unwatched: () => undefined })
  onTestFinished(() => watcher.close())
  const before = policies.current.revision
  mount(path, 2)
  await vi.waitFor(() => expect(policies.current.revision).not.toBe(before), PATIENT)
  expect(failed).not.toHaveBeenCalled()
})
