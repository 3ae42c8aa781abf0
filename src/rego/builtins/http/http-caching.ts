import { goInteger } from '../../values/go-integer.js'
import { displayText } from '../go-format/display-text.js'
import { RegoNumber } from '../../values/value.js'
import type { RegoObject } from '../../values/value.js'
import { BuiltinError } from '../shared/builtin.js'

/** Sharing with other decisions; without a duration the response's headers decide. */
export interface Caching {
  readonly isShared: boolean
  readonly forcedSeconds: number | undefined
}

const MODES: readonly unknown[] = [undefined, 'serialized', 'deserialized']
const MAX_SECONDS = 2_147_483_647

/** Reads the caching parameters. Throws BuiltinError with OPA's messages. */
export function readCaching(parameters: RegoObject): Caching {
  const isCached = booleanParameter(parameters, 'cache')
  const isForced = booleanParameter(parameters, 'force_cache')
  const mode = parameters.get('caching_mode')
  if (!isCached && !isForced) return { isShared: false, forcedSeconds: undefined }
  if (mode !== undefined && typeof mode !== 'string') throw invalidField('caching_mode')
  if (!MODES.includes(mode))
    throw new BuiltinError(`invalid value specified for "caching_mode" field: ${String(mode)}`)
  return { isShared: true, forcedSeconds: isForced ? forcedSeconds(parameters) : undefined }
}

/** Returns a boolean parameter; false if it is absent. Throws BuiltinError. */
export function booleanParameter(parameters: RegoObject, name: string): boolean {
  const value = parameters.get(name) ?? false
  if (typeof value !== 'boolean') throw invalidField(name)
  return value
}

/** A duration of zero or less disables caching. */
function forcedSeconds(parameters: RegoObject): number | undefined {
  const value = parameters.get('force_cache_duration_seconds')
  if (value === undefined) {
    throw new BuiltinError("'force_cache' set but 'force_cache_duration_seconds' parameter is missing")
  }
  const seconds = value instanceof RegoNumber ? goInteger(value.text) : undefined
  if (seconds === undefined || seconds > MAX_SECONDS || seconds < -MAX_SECONDS - 1) {
    throw new BuiltinError(`strconv.ParseInt: parsing ${JSON.stringify(displayText(value))}: invalid syntax`)
  }
  return seconds > 0n ? Number(seconds) : undefined
}

function invalidField(name: string): BuiltinError {
  return new BuiltinError(`invalid value for "${name}" field`)
}
