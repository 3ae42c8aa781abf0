import { readFileSync } from 'node:fs'

import { AppError, toError } from '../errors/app-error.js'
import type { ErrorDetail } from '../errors/app-error.js'
import { Secret } from '../lib/outbound/credentials.js'
import { isSecretReferenceAt } from './config-keys.js'
import { keyProblem } from './values/problem.js'
import type { ReadSecret, SecretReference } from './values/secret.js'

/** A secret, or a sentence that says why it is missing. */
type Reading = Secret | string

const MAX_SECRET_LENGTH = 65_536

/**
 * Reads every secret of a configuration once, at the start of the service. Throws one `invalid`
 * that lists every key with a missing or unusable secret.
 */
export function readSecrets(config: unknown, env: Readonly<Record<string, string | undefined>>): ReadSecret {
  const readings = new Map<string, Reading>()
  const problems: ErrorDetail[] = []
  for (const { path, reference } of referencesIn(config, [])) {
    const reading = read(reference, env)
    readings.set(JSON.stringify(reference), reading)
    if (typeof reading === 'string') problems.push(keyProblem('missing_secret', path, reading, undefined))
  }
  if (problems.length > 0) {
    throw new AppError('invalid', 'the configuration cannot be used: secrets are missing', {
      code: 'invalid_configuration',
      details: problems,
    })
  }
  return (reference) => {
    const reading = readings.get(JSON.stringify(reference)) ?? read(reference, env)
    if (typeof reading === 'string') throw new AppError('invalid', `a secret is missing: ${reading}`)
    return reading
  }
}

/** Returns the paths of the secrets whose contents differ between two readings of a configuration. */
export function changedSecrets(config: unknown, before: ReadSecret, after: ReadSecret): readonly string[] {
  return referencesIn(config, [])
    .filter(({ reference }) => reveal(before, reference) !== reveal(after, reference))
    .map(({ path }) => path.join('.'))
}

/** A secret that one side lacks differs. */
function reveal(read: ReadSecret, reference: SecretReference): string | undefined {
  try {
    return read(reference).reveal()
  } catch {
    return undefined
  }
}

interface FoundReference {
  readonly path: readonly PropertyKey[]
  readonly reference: SecretReference
}

function referencesIn(value: unknown, path: readonly PropertyKey[]): FoundReference[] {
  if (typeof value !== 'object' || value === null) return []
  // The schema has validated it.
  if (isSecretReferenceAt(path)) return [{ path, reference: value as SecretReference }]
  const members: (readonly [PropertyKey, unknown])[] = Array.isArray(value)
    ? value.map((element, index) => [index, element])
    : Object.entries(value)
  return members.flatMap(([name, member]) => referencesIn(member, [...path, name]))
}

function read(reference: SecretReference, env: Readonly<Record<string, string | undefined>>): Reading {
  if ('env' in reference) {
    return check(env[reference.env] ?? '', `the environment variable ${reference.env}`)
  }
  const source = `the file ${reference.file}`
  try {
    // Editors and `echo` append a line break.
    return check(readFileSync(reference.file, 'utf8').replace(/\r?\n$/, ''), source)
  } catch (raw) {
    return `${source} cannot be read: ${toError(raw).message}`
  }
}

function check(text: string, source: string): Reading {
  if (text.trim() === '') return `${source} is not set or is empty`
  if (text.length > MAX_SECRET_LENGTH) return `${source} holds more than ${MAX_SECRET_LENGTH} characters`
  return /\p{Cc}/u.test(text) ? `${source} holds line breaks or control characters` : new Secret(text)
}
