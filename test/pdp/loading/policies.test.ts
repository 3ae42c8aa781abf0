import { afterAll, expect, test } from 'vitest'

import { AppError } from '../../../src/errors/app-error.js'
import { hostBuiltins } from '../../../src/pdp/builtins/index.js'
import { Policies } from '../../../src/pdp/loading/policies.js'
import { findOpa } from '../../../src/pdp/opa/find-opa.js'
import { RegoNumber } from '../../../src/pdp/rego/value.js'
import { DEFAULT_LIMITS } from '../../support/default-limits.js'
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
