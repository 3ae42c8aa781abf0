import { isDeepStrictEqual } from 'node:util'

import { AppError } from '../errors/app-error.js'
import type { Config } from './config.js'
import { keyProblem } from './values/problem.js'

/** Keys that a running service can change, each with everything below it. */
const CHANGEABLE: readonly string[] = [
  'auth',
  'server.publicUrl',
  'server.orchestratorUrl',
  'server.allowedHosts',
  'server.frameAncestors',
  'server.tlsCertificate',
  'server.tlsKey',
  'server.tlsClientCa',
  'server.tlsClientCrl',
  'policies.directories',
  'policies.bundles',
  'policies.sources',
  'policies.opaConfig',
  'policies.bundleSigning',
  'policies.staticPackages',
  'policies.undefinedData',
  'policies.defaultDecision',
  'policies.accessDecision',
  'policies.authorization',
  'policies.levels',
  'policies.staged',
  'gates.definitions',
  'gates.environments',
  'gates.fromStages',
  'gates.runtimePolicies',
  'callbacks',
  'connectors',
  'notifications',
  'analysis.sources',
  'analysis.definitions',
  'analysis.notifications',
  'analysis.allowLoopback',
  'analysis.allowPrivate',
]

/** Keys that can change, but neither appear nor disappear: listeners are made with or without TLS. */
const LASTING: readonly string[] = ['server.tlsCertificate', 'server.tlsKey', 'server.tlsClientCa']

/**
 * Returns the keys whose values differ, such as `gates.definitions`. Throws `invalid` that names
 * every key which a running service cannot change.
 */
export function changedKeys(before: Config, after: Config): readonly string[] {
  const changes = differences(before, after, [])
  const fixed = changes.filter(
    ({ key, comesOrGoes }) => !isChangeable(key) || (comesOrGoes && LASTING.includes(key)),
  )
  if (fixed.length === 0) return changes.map(({ key }) => key)
  const text = 'cannot change while the service runs: restart the service, or restore the previous value'
  const names = fixed.map(({ key }) => key).join(', ')
  const need = fixed.length === 1 ? 'needs' : 'need'
  throw new AppError('invalid', `not reloaded: ${names} ${need} a restart`, {
    code: 'restart_required',
    details: fixed.map(({ key }) => keyProblem('restart_required', key.split('.'), text, undefined)),
  })
}

/** True if a reload can change a key, such as `auth.tokens`. */
export function isChangeable(key: string): boolean {
  return CHANGEABLE.some((known) => key === known || key.startsWith(`${known}.`))
}

interface Difference {
  readonly key: string
  /** True if the value is absent on one side. */
  readonly comesOrGoes: boolean
}

/** Lists are compared as a whole, because their elements have no keys. */
function differences(before: unknown, after: unknown, path: readonly string[]): Difference[] {
  if (isDeepStrictEqual(before, after)) return []
  if (!isSection(before) || !isSection(after))
    return [{ key: path.join('.'), comesOrGoes: before === undefined || after === undefined }]
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...names].flatMap((name) => differences(before[name], after[name], [...path, name]))
}

function isSection(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
