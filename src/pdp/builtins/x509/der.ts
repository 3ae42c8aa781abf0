import { isUtf8 } from 'node:buffer'

import { BuiltinError } from '../shared/builtin.js'

/** One value of a DER text (X.690). */
export interface DerNode {
  /** The identifier byte: class, constructed bit and number. */
  readonly tag: number
  /** The whole value, header included. */
  readonly raw: Buffer
  readonly content: Buffer
}

export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  oid: 0x06,
  utf8String: 0x0c,
  numericString: 0x12,
  printableString: 0x13,
  t61String: 0x14,
  ia5String: 0x16,
  bmpString: 0x1e,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const

const MAX_ARC = 0x7fff_ffffn

/** The identifier byte of `[number]`, plain or around other values. */
export function contextTag(number: number, form: 'plain' | 'constructed' = 'plain'): number {
  return (form === 'plain' ? 0x80 : 0xa0) | number
}

/** All values that are one after the other in `bytes`; raises BuiltinError on a broken one. */
export function readAll(bytes: Buffer): DerNode[] {
  const nodes: DerNode[] = []
  for (let at = 0; at < bytes.length;) {
    const node = readAt(bytes, at)
    nodes.push(node)
    at += node.raw.length
  }
  return nodes
}

/** The value that `bytes` begin with; what is behind it is passed over. */
export function readFirst(bytes: Buffer): DerNode {
  return readAt(bytes, 0)
}

/** The members of a constructed value. */
export function membersOf(node: DerNode | undefined): DerNode[] {
  if (node === undefined || (node.tag & 0x20) === 0) throw malformed()
  return readAll(node.content)
}

/** The members of a sequence; raises BuiltinError for any other value. */
export function sequenceOf(node: DerNode | undefined): DerNode[] {
  return membersOf(expectTag(node, TAG.sequence))
}

/** The members of a sequence up to what cannot be read: Go looks at no more than it asks for. */
export function leadingMembersOf(node: DerNode | undefined): DerNode[] {
  const { content } = expectTag(node, TAG.sequence)
  const members: DerNode[] = []
  try {
    for (let at = 0; at < content.length; at += members.at(-1)?.raw.length ?? 0)
      members.push(readAt(content, at))
  } catch (raw) {
    if (!(raw instanceof BuiltinError)) throw raw
  }
  return members
}

/** A sequence of values. */
export function sequenceOfAll(members: readonly DerNode[]): Buffer {
  const content = Buffer.concat(members.map(({ raw }) => raw))
  const { length } = content
  const header = length < 0x80 ? [length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([TAG.sequence, ...header]), content])
}

/** The value itself where it has this identifier byte; raises BuiltinError for another, and for none. */
export function expectTag(node: DerNode | undefined, tag: number): DerNode {
  if (node?.tag !== tag) throw malformed()
  return node
}

function readAt(bytes: Buffer, at: number): DerNode {
  const tag = bytes[at]
  const first = bytes[at + 1]
  // Tag numbers past 30 take several bytes; X.509 has none.
  if (tag === undefined || first === undefined || (tag & 0x1f) === 0x1f) throw malformed()
  const lengthBytes = first < 0x80 ? 0 : first & 0x7f
  if (first === 0x80 || lengthBytes > 4 || at + 2 + lengthBytes > bytes.length) throw malformed()
  const length = lengthBytes === 0 ? first : bytes.readUIntBE(at + 2, lengthBytes)
  // DER takes the shortest form alone, and so does Go.
  if (lengthBytes > 0 && (length < 0x80 || bytes[at + 2] === 0)) throw malformed()
  const start = at + 2 + lengthBytes
  if (start + length > bytes.length) throw malformed()
  return { tag, raw: bytes.subarray(at, start + length), content: bytes.subarray(start, start + length) }
}

export function malformed(): BuiltinError {
  return new BuiltinError('x509: malformed certificate')
}

/** A signed big-endian integer, in as few bytes as it takes. */
export function integerOf(node: DerNode | undefined): bigint {
  const { content } = expectTag(node, TAG.integer)
  const [first, second = 0] = content
  if (first === undefined) throw malformed()
  const isPadded = second < 0x80 ? first === 0 : first === 0xff
  if (content.length > 1 && isPadded) throw malformed()
  const value = BigInt(`0x${content.toString('hex')}`)
  return BigInt.asIntN(content.length * 8, value)
}

/** True is 0xff and nothing else. */
export function booleanOf(node: DerNode): boolean {
  const [value, ...rest] = expectTag(node, TAG.boolean).content
  if ((value !== 0 && value !== 0xff) || rest.length > 0) throw malformed()
  return value === 0xff
}

/** An object identifier in dots: `2.5.4.3`. Go reads parts of 31 bits. */
export function oidOf(node: DerNode | undefined): string {
  const arcs: bigint[] = []
  let arc: bigint | undefined
  for (const byte of expectTag(node, TAG.oid).content) {
    if (arc === undefined && byte === 0x80) throw malformed()
    arc = ((arc ?? 0n) << 7n) | BigInt(byte & 0x7f)
    if (arc > MAX_ARC) throw malformed()
    if ((byte & 0x80) !== 0) continue
    arcs.push(arc)
    arc = undefined
  }
  if (arc !== undefined || arcs.length === 0) throw malformed()
  const [first = 0n, ...rest] = arcs
  const root = first < 80n ? first / 40n : 2n
  return [root, first - root * 40n, ...rest].join('.')
}

/** The bytes of a bit string, without the count of unused bits. */
export function bitsOf(node: DerNode | undefined): Buffer {
  const { content } = expectTag(node, TAG.bitString)
  const [unused = 8, ...bytes] = content
  if (unused > 7 || ((bytes.at(-1) ?? 0xff) & ((1 << unused) - 1)) !== 0) throw malformed()
  return content.subarray(1)
}

/** What texts of each type may hold, in ISO-8859-1. */
const CHARACTERS: ReadonlyMap<number, RegExp> = new Map([
  [TAG.printableString, /^[A-Za-z0-9'()+,\-./ :=?*&]*$/],
  [TAG.ia5String, /^[\0-\x7f]*$/],
  [TAG.numericString, /^[\d ]*$/],
])

/** A text of any string type; raises BuiltinError for what a text of its type cannot hold. */
export function textOf({ tag, content }: DerNode): string {
  if (tag === TAG.bmpString) {
    if (content.length % 2 !== 0) throw malformed()
    return Buffer.from(content).swap16().toString('utf16le').replace(/\0$/, '')
  }
  if (tag === TAG.utf8String && !isUtf8(content)) throw malformed()
  if (tag === TAG.utf8String || tag === TAG.t61String) return content.toString('utf8')
  if (CHARACTERS.get(tag)?.test(content.toString('latin1')) !== true) throw malformed()
  return content.toString('latin1')
}

/** A UTCTime or GeneralizedTime in seconds, as RFC 3339 in UTC. RFC 5280 puts two-digit years into 1950 to 2049. */
export function timeOf(node: DerNode): string {
  const text = node.content.toString('latin1')
  if (node.tag !== TAG.utcTime && node.tag !== TAG.generalizedTime) throw malformed()
  const century = node.tag !== TAG.utcTime ? '' : Number(text.slice(0, 2)) >= 50 ? '19' : '20'
  const parts = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(century + text)
  if (parts === null) throw malformed()
  const [, year, month, day, hour, minute, second] = parts
  const moment = `${year}-${month}-${day}T${hour}:${minute}:${second}`
  if (!isMoment(moment)) throw malformed()
  return `${moment}Z`
}

/** Whether there is such a day and such a time of it. */
function isMoment(text: string): boolean {
  const date = new Date(`${text}Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text)
}
