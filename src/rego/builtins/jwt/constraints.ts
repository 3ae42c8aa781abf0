import { createSecretKey } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { RegoNumber } from '../../values/value.js'
import type { RegoObject, RegoValue } from '../../values/value.js'
import { BuiltinError } from '../shared/builtin.js'
import type { BuiltinContext } from '../shared/builtin.js'
import type { TokenKey } from './json-web-key.js'
import { readVerificationKeys } from './verification-keys.js'

/** What the second operand of io.jwt.decode_verify asks of a token; an absent text is empty and asks nothing. */
export interface TokenConstraints {
  readonly trust: TrustedKeys
  readonly alg: string
  readonly iss: string
  readonly aud: string
  /** The instant the token must be valid at, in nanoseconds since the epoch. */
  readonly timeNs: number
}

export type TrustedKeys =
  | { readonly kind: 'secret'; readonly secret: KeyObject }
  | { readonly kind: 'keys'; readonly keys: readonly TokenKey[] }

const NAMES: readonly RegoValue[] = ['cert', 'secret', 'alg', 'iss', 'aud', 'time']

/** Raises BuiltinError on an unknown or mistyped constraint, and unless there is exactly one of `cert` and `secret`. */
export function readConstraints(
  source: RegoObject,
  { nowNs, meter }: Pick<BuiltinContext, 'nowNs' | 'meter'>,
): TokenConstraints {
  for (const [name] of source.entries) {
    if (NAMES.includes(name)) continue
    const spoken = typeof name === 'string' ? name : 'not a string'
    throw new BuiltinError(`unknown token validation constraint: ${spoken}`)
  }
  const [alg, aud] = [readText(source, 'alg'), readText(source, 'aud')]
  const cert = source.get('cert') === undefined ? undefined : readText(source, 'cert')
  const keys = cert === undefined ? undefined : readVerificationKeys(cert, meter)
  const [iss, secret] = [readText(source, 'iss'), readText(source, 'secret')]
  const timeNs = readTime(source.get('time') ?? RegoNumber.of(nowNs))
  return { trust: chooseTrust(keys, secret), alg, aud, iss, timeNs }
}

function chooseTrust(keys: readonly TokenKey[] | undefined, secret: string): TrustedKeys {
  if (keys !== undefined && secret !== '') throw new BuiltinError('duplicate key constraints')
  if (keys !== undefined) return { kind: 'keys', keys }
  if (secret === '') throw new BuiltinError('no key constraint')
  return { kind: 'secret', secret: createSecretKey(Buffer.from(secret)) }
}

function readText(source: RegoObject, name: string): string {
  const value = source.get(name)
  if (value === undefined) return ''
  if (typeof value !== 'string') throw new BuiltinError(`${name} constraint: must be a string`)
  return value
}

function readTime(value: RegoValue): number {
  if (!(value instanceof RegoNumber)) throw new BuiltinError('token time constraint: must be a number')
  const time = value.toNumber()
  if (!Number.isFinite(time)) throw new BuiltinError('token time constraint: unvalid float64')
  if (time < 0) throw new BuiltinError('token time constraint: must not be negative')
  return time
}
