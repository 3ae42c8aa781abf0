import { randomUUID } from 'node:crypto'
import { RegoNumber, RegoObject } from '../values/value.js'
import type { RegoValue } from '../values/value.js'
import type { BuiltinContext, BuiltinTable } from './shared/builtin.js'
import { memoise } from './shared/memoise.js'
import { operand, stringOperand } from './shared/operands.js'

type Args = readonly RegoValue[]

/** Creates and parses UUIDs like google/uuid in OPA. */
export const uuidBuiltins: BuiltinTable = {
  'uuid.rfc4122': makeUuid,
  'uuid.parse': parseUuid,
}

/** Returns a version 4 UUID, the same for the same key within a decision. */
function makeUuid(args: Args, context: BuiltinContext): RegoValue {
  operand(args, 0)
  return memoise('uuid.rfc4122', args, context, () => randomUUID())
}

/** Returns version, variant, and the fields of versions 1 and 2; undefined if invalid. */
function parseUuid(args: Args): RegoValue | undefined {
  const bytes = uuidBytes(stringOperand(args, 0))
  if (bytes === undefined) return undefined
  const version = bytes.readUInt8(6) >> 4
  return RegoObject.fromRecord({
    version: RegoNumber.of(version),
    variant: variantOf(bytes.readUInt8(8)),
    ...(version === 1 || version === 2 ? timeFields(bytes) : {}),
    ...(version === 2 ? securityFields(bytes) : {}),
  })
}

const HYPHENATED = /^([0-9a-f]{8})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{12})$/i
const BARE = /^[0-9a-f]{32}$/i

/** As in google/uuid, any character on each side is accepted as a brace. */
function uuidBytes(text: string): Buffer | undefined {
  if (BARE.test(text)) return Buffer.from(text, 'hex')
  const inner = text.replace(/^urn:uuid:/i, '')
  const unbraced = inner === text && Buffer.byteLength(text) === 38 ? text.slice(1, -1) : inner
  return HYPHENATED.test(unbraced) ? Buffer.from(unbraced.replaceAll('-', ''), 'hex') : undefined
}

/** RFC 4122, section 4.1.1. */
function variantOf(byte: number): string {
  if ((byte & 0xc0) === 0x80) return 'RFC4122'
  if ((byte & 0xe0) === 0xc0) return 'Microsoft'
  return (byte & 0xe0) === 0xe0 ? 'Future' : 'Reserved'
}

/** Units of 100 ns from the Gregorian calendar to 1970 (RFC 4122, section 4.1.4). */
const GREGORIAN_TO_UNIX = 0x01b21dd213814000n

function timeFields(bytes: Buffer): Record<string, RegoValue> {
  const high = BigInt(bytes.readUInt16BE(6) & 0x0fff)
  const mid = BigInt(bytes.readUInt16BE(4))
  const ticks = (high << 48n) | (mid << 32n) | BigInt(bytes.readUInt32BE(0))
  const node = bytes.subarray(10)
  return {
    // Go's nanoseconds overflow at 64 bits.
    time: RegoNumber.of(BigInt.asIntN(64, (ticks - GREGORIAN_TO_UNIX) * 100n)),
    clocksequence: RegoNumber.of(bytes.readUInt16BE(8) & 0x3fff),
    nodeid: [...node].map((byte) => byte.toString(16).padStart(2, '0')).join('-'),
    macvariables: macVariables(node.readUInt8(0)),
  }
}

function macVariables(firstByte: number): string {
  return `${(firstByte & 2) === 0 ? 'global' : 'local'}:${(firstByte & 1) === 0 ? 'unicast' : 'multicast'}`
}

const DOMAINS = ['Person', 'Group', 'Org']

/** DCE Security: a domain and an id replace parts of the clock and the time. */
function securityFields(bytes: Buffer): Record<string, RegoValue> {
  const domain = bytes.readUInt8(9)
  return { domain: DOMAINS[domain] ?? `Domain${domain}`, id: RegoNumber.of(bytes.readUInt32BE(0)) }
}
