import type { z } from 'zod'

import type { ErrorDetail } from '../errors/app-error.js'
import { nearestName, suggestion } from '../lib/text/nearest-name.js'
import { pathText } from '../lib/text/path-text.js'
import { allowedAt, isHiddenAt, namesAt } from './config-keys.js'
import type { LayeredValues } from './values/layered-values.js'
import { keyProblem } from './values/problem.js'

type Issue = z.core.$ZodIssue

const MAX_SHOWN = 80
/** The only keys below `auth` whose values are shown: what is in the others may be a token by mistake. */
const SHOWN_AUTH_KEYS: readonly string[] = ['name', 'roles']

/** What the schema found wrong, in our words: the key, what it must be, what it is, where that comes from. */
export function describeIssue(issue: Issue, values: LayeredValues): ErrorDetail[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((name) => unknownKey([...issue.path, name], values))
  }
  const { path } = issue
  const allowed =
    allowedAt(path) ?? (namesAt(path).length > 0 ? `an object with ${listNames(path)}` : issue.message)
  const value = values.get(path)
  const text =
    value === undefined ? `is missing: must be ${allowed}` : `must be ${allowed}, not ${show(path, value)}`
  return [keyProblem('invalid_value', path, text, values.originOf(path))]
}

function unknownKey(path: readonly PropertyKey[], values: LayeredValues): ErrorDetail {
  const name = String(path.at(-1))
  const origin = values.originOf(path)
  if (name === 'token' && path[0] === 'auth') {
    const text =
      'a token is not written into the configuration: give its sha256 instead, which `tidegate hash-token` prints'
    return keyProblem('plain_token', path, text, origin)
  }
  const parent = path.slice(0, -1)
  const nearest = nearestName(name, namesAt(parent))
  const hint =
    nearest === undefined ? `; known are ${listNames(parent)}` : suggestion(pathText([...parent, nearest]))
  return keyProblem('unknown_key', path, `unknown key${hint}`, origin)
}

function listNames(path: readonly PropertyKey[]): string {
  return namesAt(path).join(', ')
}

function show(path: readonly PropertyKey[], value: unknown): string {
  const isSecret = path[0] === 'auth' && !path.some((segment) => SHOWN_AUTH_KEYS.includes(String(segment)))
  if (isSecret || isHiddenAt(path)) return 'what is there'
  const text = typeof value === 'number' ? String(value) : JSON.stringify(value)
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text
}
