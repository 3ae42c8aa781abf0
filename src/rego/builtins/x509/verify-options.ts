import { trimSigns } from '../../../lib/text/trim-signs.js'
import { RegoNumber, RegoSet } from '../../values/value.js'
import type { RegoObject, RegoValue } from '../../values/value.js'
import { integerSegment } from '../../values/data-path.js'
import { BuiltinError } from '../shared/builtin.js'
import { isArray } from '../shared/operands.js'
import { SERVER_AUTH, usageByName } from './extended-key-usages.js'
import type { ChainOptions } from './verify-chain.js'

const NS_PER_MS = 1_000_000n

/** What Go verifies when it is told nothing: a server's certificate, now, of any name. */
export function defaultOptions(nowNs: bigint): ChainOptions {
  return { time: toTimeText(nowNs), dnsName: '', usages: [SERVER_AUTH] }
}

/** Options as crypto.x509.parse_and_verify_certificates_with_options takes them. Raises BuiltinError on others. */
export function readVerifyOptions(source: RegoObject, nowNs: bigint): ChainOptions {
  let options = defaultOptions(nowNs)
  for (const [name, value] of source.entries) {
    if (typeof name !== 'string') continue
    options = { ...options, ...readOption(name, value) }
  }
  return options
}

function readOption(name: string, value: RegoValue): Partial<ChainOptions> {
  switch (name) {
    case 'DNSName':
      if (typeof value !== 'string') throw new BuiltinError("'DNSName' should be a string")
      return { dnsName: trimSigns(value, '"') }
    case 'CurrentTime':
      return { time: toTimeText(readInt64(value, name, 'a valid int64 number')) }
    case 'MaxConstraintComparisons':
      readInt64(value, name, 'a valid number')
      return {}
    case 'KeyUsages':
      return readUsages(value)
    default:
      throw new BuiltinError('invalid key option')
  }
}

function readInt64(value: RegoValue, name: string, wanted: string): bigint {
  if (!(value instanceof RegoNumber)) throw new BuiltinError(`'${name}' should be a number`)
  const integer = integerSegment(value.text)
  if (integer === undefined) throw new BuiltinError(`'${name}' should be ${wanted}`)
  return integer
}

function readUsages(value: RegoValue): Partial<ChainOptions> {
  if (!isArray(value) && !(value instanceof RegoSet)) {
    throw new BuiltinError("'KeyUsages' should be an Array or Set")
  }
  const names = (isArray(value) ? value : value.members).filter((name) => typeof name === 'string')
  const spoken = names.map((name) => trimSigns(name, '"'))
  const invalid = spoken.filter((name) => usageByName(name) === undefined)
  if (invalid.length > 0) {
    throw new BuiltinError(`invalid entries for 'KeyUsages' found: [${invalid.join(' ')}]`)
  }
  const usages = spoken.flatMap((name) => usageByName(name) ?? [])
  return usages.length === 0 ? {} : { usages }
}

/** RFC 3339 in UTC, to the second. */
function toTimeText(timeNs: bigint): string {
  return `${new Date(Number(timeNs / NS_PER_MS)).toISOString().slice(0, 19)}Z`
}
