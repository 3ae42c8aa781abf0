import { compareStrings } from '../../lib/text/compare-strings.js'
import { RegoNumber } from '../values/value.js'
import type { RegoValue } from '../values/value.js'
import { BuiltinError } from './shared/builtin.js'
import type { Builtin, BuiltinTable } from './shared/builtin.js'
import { quoteGoString } from './go-format/quote.js'
import { operand, stringOperand } from './shared/operands.js'

/** A version in OPA's grammar, which also accepts a `v`, leading zeros, and a bare `-`. */
interface Version {
  readonly numbers: readonly bigint[]
  readonly preRelease: readonly string[]
}

const IDENTIFIERS = '(?:[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*)?'
const VERSION = new RegExp(`^v?(\\d+)\\.(\\d+)\\.(\\d+)(?:-(${IDENTIFIERS}))?(?:\\+${IDENTIFIERS})?$`)
const INT64_MAX = 2n ** 63n - 1n

const isValid: Builtin = (args) => {
  const value = operand(args, 0)
  return typeof value === 'string' && parseVersion(value) !== undefined
}

const compare: Builtin = (args) => {
  const [a, b] = [versionOperand(args, 0), versionOperand(args, 1)]
  return RegoNumber.of(Math.sign(compareVersions(a, b)))
}

function versionOperand(args: readonly RegoValue[], index: number): Version {
  const text = stringOperand(args, index)
  const version = parseVersion(text)
  if (version !== undefined) return version
  throw new BuiltinError(`operand ${index + 1}: string ${quoteGoString(text)} is not a valid SemVer`)
}

function parseVersion(text: string): Version | undefined {
  const match = VERSION.exec(text)
  if (match === null) return undefined
  const numbers = match.slice(1, 4).map(BigInt)
  const preRelease = match[4] ?? ''
  if (numbers.some((number) => number > INT64_MAX)) return undefined
  return { numbers, preRelease: preRelease === '' ? [] : preRelease.split('.') }
}

function compareVersions(a: Version, b: Version): number {
  for (const [i, number] of a.numbers.entries()) {
    const order = Number(number - (b.numbers[i] ?? 0n))
    if (order !== 0) return order
  }
  // A release is greater than its pre-releases.
  if (a.preRelease.length === 0 || b.preRelease.length === 0) return b.preRelease.length - a.preRelease.length
  return comparePreReleases(a.preRelease, b.preRelease)
}

function comparePreReleases(a: readonly string[], b: readonly string[]): number {
  for (const [i, identifier] of a.entries()) {
    const other = b[i]
    if (other === undefined) return 1
    const order = compareIdentifiers(identifier, other)
    if (order !== 0) return order
  }
  return a.length - b.length
}

/** Numbers compare by value, before names; equal or larger than 64 bits, as text. */
function compareIdentifiers(a: string, b: string): number {
  const [x, y] = [toInt64(a), toInt64(b)]
  if (x !== undefined && y !== undefined && x !== y) return x < y ? -1 : 1
  if ((x === undefined) !== (y === undefined)) return x === undefined ? 1 : -1
  return compareStrings(a, b)
}

function toInt64(identifier: string): bigint | undefined {
  if (!/^-?\d+$/.test(identifier)) return undefined
  const value = BigInt(identifier)
  return BigInt.asIntN(64, value) === value ? value : undefined
}

export const semverBuiltins: BuiltinTable = { 'semver.compare': compare, 'semver.is_valid': isValid }
