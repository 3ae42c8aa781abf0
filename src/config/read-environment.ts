import type { ErrorDetail } from '../errors/app-error.js'
import { nearestName, suggestion } from '../lib/text/nearest-name.js'
import { CLIENT_VARIABLES, OPA_DOWNLOADS_VARIABLE } from './values/server-url.js'
import { configKeys } from './config-keys.js'
import type { ConfigKey } from './config-keys.js'
import { isRemovedVariable, keysByFormerVariable } from './former-names.js'
import type { OriginatedValue } from './values/layered-values.js'

const PREFIX = 'TIDEGATE_'
/** Gives the path of the configuration file. */
export const CONFIG_FILE_VARIABLE = 'TIDEGATE_CONFIG'
const OTHER_VARIABLES: readonly string[] = [
  CONFIG_FILE_VARIABLE,
  ...Object.values(CLIENT_VARIABLES),
  OPA_DOWNLOADS_VARIABLE,
]
const NUMBER = /^-?\d+(?:\.\d+)?$/

const keysByVariable = new Map(configKeys.map((key) => [key.env, key]))
const keysByAnyVariable = new Map([...keysByFormerVariable(), ...keysByVariable])

/**
 * Returns the values set by TIDEGATE_* variables. Lists are separated by commas, or are JSON if
 * they start with `[`. An unknown variable is a problem. An empty one sets nothing.
 */
export function readEnvironment(env: Readonly<Record<string, string | undefined>>): {
  readonly values: readonly OriginatedValue[]
  readonly problems: readonly ErrorDetail[]
} {
  const values: OriginatedValue[] = []
  const problems: ErrorDetail[] = []
  for (const [name, text] of Object.entries(env)) {
    if (!name.startsWith(PREFIX) || OTHER_VARIABLES.includes(name) || text === undefined) continue
    if (isRemovedVariable(name)) continue
    // Deployments often leave unused variables empty. `[]` is an empty list.
    if (text.trim() === '' && keysByAnyVariable.has(name)) continue
    const key = keysByAnyVariable.get(name)
    if (key === undefined) problems.push(unknownVariable(name))
    else values.push({ path: key.path, value: readText(key, text), origin: name })
  }
  return { values, problems }
}

/** Unparsable text is kept. The schema then rejects it and names the allowed values. */
function readText({ kind }: ConfigKey, text: string): unknown {
  switch (kind) {
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : text
    case 'number':
      return NUMBER.test(text) ? Number(text) : text
    case 'list':
      return readList(text)
    case 'text':
      return text
  }
}

function readList(text: string): unknown {
  if (!text.trimStart().startsWith('[')) {
    const items = text.split(',').map((item) => item.trim())
    return items.filter((item) => item !== '')
  }
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function unknownVariable(name: string): ErrorDetail {
  const nearest = nearestName(name, [...keysByVariable.keys(), ...OTHER_VARIABLES])
  return { code: 'unknown_variable', message: `environment variable ${name}: unknown${suggestion(nearest)}` }
}
