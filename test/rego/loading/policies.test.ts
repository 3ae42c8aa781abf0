import { join } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'

import { AppError } from '../../../src/errors/app-error.js'
import { hostBuiltins } from '../../../src/rego/builtins/index.js'
import { Policies } from '../../../src/rego/loading/policies.js'
import { noteFiles, watchPolicies } from '../../../src/rego/loading/watch-policies.js'
import type { NotedFiles } from '../../../src/rego/loading/watch-policies.js'
import { findOpa } from '../../../src/rego/opa/find-opa.js'
import { RegoNumber } from '../../../src/rego/values/value.js'
import { DEFAULT_LIMITS } from '../../support/default-limits.js'
import { waitUntil } from '../../support/wait-until.js'
import { makeWorkspace } from '../../support/workspace.js'

const workspace = makeWorkspace()
afterAll(workspace.remove)

interface Opened {
  readonly policies: Policies
  readonly revisions: string[]
  readonly failures: AppError[]
}

async function open(version: number): Promise<Opened> {
  save(version)
  const revisions: string[] = []
  const failures: AppError[] = []
  const options = {
    findOpa: () => findOpa({ env: process.env }),
    builtins: hostBuiltins,
    limits: DEFAULT_LIMITS,
  }
  const policies = await Policies.open({ directories: [workspace.path], bundles: [] }, options, {
    loaded: ({ revision }) => revisions.push(revision),
    failed: ({ error }) => failures.push(error),
  })
  return { policies, revisions, failures }
}

function save(version: number): void {
  workspace.write({ 'data.json': JSON.stringify({ version }) })
}

function served({ current }: Policies): string | undefined {
  const version = current.data.get('version')
  return version instanceof RegoNumber ? version.text : undefined
}

test('however often a reload is asked for, two see all that was saved', async () => {
  const { policies, revisions } = await open(0)
  const asked = Array.from({ length: 20 }, (_, n) => {
    save(n + 1)
    return policies.reload()
  })
  await Promise.all(asked)
  expect(revisions.length).toBeLessThanOrEqual(2)
  expect(served(policies)).toBe('20')
  save(21)
  await policies.reload()
  expect(served(policies)).toBe('21')
})

test('what others cannot activate does not serve', async () => {
  const { policies, revisions, failures } = await open(1)
  policies.beforeActivation(() => Promise.reject(new AppError('unavailable', 'no room')))
  save(2)
  await policies.reload()
  expect([served(policies), revisions.length, failures[0]?.message]).toEqual(['1', 0, 'no room'])
})

test('a load that failed for no fault of the policies is tried again, one that did for theirs is not', async () => {
  const { policies, failures } = await open(1)
  let room = 0
  policies.beforeActivation(() => {
    room += 1
    return room === 1 ? Promise.reject(new AppError('unavailable', 'no room')) : Promise.resolve()
  })
  save(2)
  await policies.reload()
  expect(served(policies)).toBe('1')
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  workspace.write({ 'data.json': '{' })
  await policies.reload()
  expect(vi.getTimerCount()).toBe(0)
  room = 0
  save(3)
  await policies.reload()
  vi.runOnlyPendingTimers()
  vi.useRealTimers()
  await waitUntil(
    () => served(policies) === '3' || undefined,
    () => 'it is not tried again',
  )
  expect(failures.map(({ kind }) => kind)).toEqual(['unavailable', 'invalid', 'unavailable'])
})

test.each(['a directory', 'a single file'])(
  'what is saved in %s while policies are loaded for the first time is loaded once they are watched',
  async (what) => {
    const path = join(workspace.path, 'data.json')
    const isFile = what === 'a single file'
    const note = (): Promise<NotedFiles> => noteFiles(isFile ? [] : [workspace.path], isFile ? [path] : [])
    save(1)
    const noted = await note()
    const { policies, failures } = await open(1)
    // Longer, since times of files within some milliseconds can be equal.
    save(20)
    const options = {
      noted: isFile ? { ...noted, trees: (await noteFiles([workspace.path], [])).trees } : noted,
    }
    const watcher = await watchPolicies(policies, { ...options, unwatched: () => undefined })
    await waitUntil(
      () => (served(policies) === '20' ? true : undefined),
      () => `version ${String(served(policies))} serves: ${failures.map(String).join(', ')}`,
    )
    await watcher.close()
  },
)
