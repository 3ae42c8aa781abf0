import { afterAll, expect, test } from 'vitest'

import type { AppError } from '../../../src/errors/app-error.js'
import { policiesHealth } from '../../../src/main/policies-health.js'
import { hostBuiltins } from '../../../src/rego/builtins/index.js'
import { Policies } from '../../../src/rego/loading/policies.js'
import { findOpa } from '../../../src/rego/opa/find-opa.js'
import { DEFAULT_OPA_LIMITS } from '../../../src/rego/opa/opa-limits.js'
import { exceededLimit } from '../../../src/rego/opa/run-opa.js'
import { DEFAULT_LIMITS } from '../../support/default-limits.js'
import { makeWorkspace } from '../../support/workspace.js'

const workspace = makeWorkspace()
afterAll(workspace.remove)

const good = (version: number) => `package static.p\nimport rego.v1\nversion := ${version}\n`
/**
 * Each rule has two bodies that each call the one before it, so that the compiler doubles its work
 * 28 times.
 */
const endless = [
  'package static.p\nimport rego.v1\nf0(x) if x == 1',
  ...Array.from({ length: 28 }, (_, n) => `f${n + 1}(x) if f${n}(x)\nf${n + 1}(x) if f${n}(x + 1)`),
  'deny contains "x" if f28(input.x)',
].join('\n')

test('policies that keep the compiler busy are given up, and the next good save serves', async () => {
  const failures: AppError[] = []
  workspace.write({ 'p.rego': good(1) })
  const limits = { ...DEFAULT_OPA_LIMITS, timeMs: 3000 }
  const options = {
    findOpa: () => findOpa({ env: process.env, limits }),
    builtins: hostBuiltins,
    limits: DEFAULT_LIMITS,
  }
  const policies = await Policies.open({ directories: [workspace.path], bundles: [] }, options, {
    loaded: () => undefined,
    failed: ({ error }) => failures.push(error),
  })
  const { revision } = policies.current
  workspace.write({ 'p.rego': endless })
  const bad = policies.reload()
  workspace.write({ 'other.json': '{}' })
  await bad
  expect(failures.map(exceededLimit)).toEqual(['time'])
  expect(policies.current.revision).toBe(revision)
  expect(policiesHealth(policies).warning?.()).toContain('could not be loaded')
  workspace.write({ 'p.rego': good(2) })
  await policies.reload()
  expect(failures).toHaveLength(1)
  expect(policies.current.revision).not.toBe(revision)
  expect(policiesHealth(policies).warning?.()).toBeUndefined()
})

test('a load that takes long is a warning in the health of the service', () => {
  const warning = policiesHealth({ pinned: undefined, failure: undefined, loadingMs: 12_000 }).warning?.()
  expect(warning).toBe('changed policies have been loading for 12 s; the last good ones are in service')
  expect(
    policiesHealth({ pinned: undefined, failure: undefined, loadingMs: 1000 }).warning?.(),
  ).toBeUndefined()
})
