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
  oid: 0x06,
  bmpString: 0x1e,
  utcTime: 0x17,
  sequence: 0x30,
} as const

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

/** The members of a constructed value. */
export function membersOf(node: DerNode | undefined): DerNode[] {
  if (node === undefined || (node.tag & 0x20) === 0) throw malformed()
  return readAll(node.content)
}

function readAt(bytes: Buffer, at: number): DerNode {
  const tag = bytes[at]
  const first = bytes[at + 1]
  // Tag numbers past 30 take several bytes; X.509 has none.
  if (tag === undefined || first === undefined || (tag & 0x1f) === 0x1f) throw malformed()
  const lengthBytes = first < 0x80 ? 0 : first & 0x7f
  if (first === 0x80 || lengthBytes > 4 || at + 2 + lengthBytes > bytes.length) throw malformed()
  const length = lengthBytes === 0 ? first : bytes.readUIntBE(at + 2, lengthBytes)
  const start = at + 2 + lengthBytes
  if (start + length > bytes.length) throw malformed()
  return { tag, raw: bytes.subarray(at, start + length), content: bytes.subarray(start, start + length) }
}

export function malformed(): BuiltinError {
  return new BuiltinError('x509: malformed certificate')
}

/** A signed big-endian integer. */
export function integerOf(node: DerNode): bigint {
  const { content } = node
  if (node.tag !== TAG.integer || content.length === 0) throw malformed()
  const value = BigInt(`0x${content.toString('hex')}`)
  return BigInt.asIntN(content.length * 8, value)
}

/** An object identifier in dots: `2.5.4.3`. */
export function oidOf(node: DerNode | undefined): string {
  if (node?.tag !== TAG.oid) throw malformed()
  const arcs: bigint[] = []
  let arc = 0n
  for (const byte of node.content) {
    arc = (arc << 7n) | BigInt(byte & 0x7f)
    if ((byte & 0x80) !== 0) continue
    arcs.push(arc)
    arc = 0n
  }
  const [first = 0n, ...rest] = arcs
  const root = first < 80n ? first / 40n : 2n
  return [root, first - root * 40n, ...rest].join('.')
}

/** The bytes of a bit string, without the count of unused bits. */
export function bitsOf(node: DerNode | undefined): Buffer {
  if (node?.tag !== TAG.bitString) throw malformed()
  return node.content.subarray(1)
}

/** A text of any string type. */
export function textOf(node: DerNode): string {
  if (node.tag !== TAG.bmpString) return node.content.toString('utf8')
  return Buffer.from(node.content.subarray(0, node.content.length & ~1))
    .swap16()
    .toString('utf16le')
}

/** A UTCTime or GeneralizedTime in seconds, as RFC 3339 in UTC. RFC 5280 puts two-digit years into 1950 to 2049. */
export function timeOf(node: DerNode): string {
  const text = node.content.toString('latin1')
  const century = node.tag !== TAG.utcTime ? '' : Number(text.slice(0, 2)) >= 50 ? '19' : '20'
  const parts = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(century + text)
  if (parts === null) throw malformed()
  const [, year, month, day, hour, minute, second] = parts
  return `${year}-${month}-${day}T${hour}:${minute}:${second}Z`
}
