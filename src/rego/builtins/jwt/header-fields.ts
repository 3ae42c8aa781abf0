import type { RegoArray, RegoObject, RegoValue } from '../../values/value.js'
import { BuiltinError } from '../shared/builtin.js'
import { isArray } from '../shared/operands.js'

/** The fields of a JOSE header that a verifier acts on; an absent text is empty. */
export interface HeaderFields {
  readonly alg: string
  readonly kid: string
  readonly cty: string
  /** Whether the header names no field as critical that OPA does not know (RFC 7515, 4.1.11). */
  readonly understood: boolean
}

const KNOWN_FIELDS: readonly RegoValue[] = ['alg', 'kid', 'typ', 'cty', 'crit']

/** Raises BuiltinError when a known field has the wrong type. */
export function readHeaderFields(header: RegoObject): HeaderFields {
  const alg = readText(header, 'alg')
  const critical = readCritical(header.get('crit'))
  const cty = readText(header, 'cty')
  const kid = readText(header, 'kid')
  readText(header, 'typ')
  const understood = header.entries.every(([name]) => KNOWN_FIELDS.includes(name) || !critical.includes(name))
  return { alg, kid, cty, understood }
}

function readText(header: RegoObject, name: string): string {
  const value = header.get(name)
  if (value === undefined) return ''
  if (typeof value !== 'string') throw new BuiltinError(`${name}: must be a string`)
  return value
}

/** The names up to the first member that is no text, where OPA stops. */
function readCritical(value: RegoValue | undefined): RegoArray {
  if (value === undefined) return []
  if (!isArray(value)) throw new BuiltinError('crit: must be a list')
  const stop = value.findIndex((name) => typeof name !== 'string')
  const names = stop < 0 ? value : value.slice(0, stop)
  if (names.length === 0) throw new BuiltinError('crit: must be a nonempty list')
  return names
}
