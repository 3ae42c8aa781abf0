import { isUtf8 } from 'node:buffer'

import { TAG, derElementAt, derElementsIn, derTime } from '../../../lib/der.js'
import type { DerElement } from '../../../lib/der.js'
import { BuiltinError } from '../shared/builtin.js'

export type DerNode = DerElement

export { TAG }

const MAX_ARC = 0x7fff_ffffn

/** Returns the identifier byte of `[number]`, primitive or constructed. */
export function contextTag(number: number, form: 'plain' | 'constructed' = 'plain'): number {
  return (form === 'plain' ? 0x80 : 0xa0) | number
}

/** Reads all consecutive values in `bytes`. Throws BuiltinError for an invalid one. */
export function readAll(bytes: Buffer): DerNode[] {
  const nodes = derElementsIn(bytes)
  if (nodes === undefined) throw malformed()
  return nodes
}

/** Reads the first value in `bytes` and ignores the rest. */
export function readFirst(bytes: Buffer): DerNode {
  const node = derElementAt(bytes, 0)
  if (node === undefined) throw malformed()
  return node
}

export function membersOf(node: DerNode | undefined): DerNode[] {
  if (node === undefined || (node.tag & 0x20) === 0) throw malformed()
  return readAll(node.content)
}

/** Returns the members of a sequence. Throws BuiltinError for any other value. */
export function sequenceOf(node: DerNode | undefined): DerNode[] {
  return membersOf(expectTag(node, TAG.sequence))
}

/** Returns the members before the first invalid one: Go reads only those it needs. */
export function leadingMembersOf(node: DerNode | undefined): DerNode[] {
  const { content } = expectTag(node, TAG.sequence)
  const members: DerNode[] = []
  for (let at = 0; at < content.length;) {
    const member = derElementAt(content, at)
    if (member === undefined) break
    members.push(member)
    at += member.raw.length
  }
  return members
}

export function sequenceOfAll(members: readonly DerNode[]): Buffer {
  const content = Buffer.concat(members.map(({ raw }) => raw))
  const { length } = content
  const header = length < 0x80 ? [length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([TAG.sequence, ...header]), content])
}

/** Returns the value if it has this identifier byte. Throws BuiltinError otherwise. */
export function expectTag(node: DerNode | undefined, tag: number): DerNode {
  if (node?.tag !== tag) throw malformed()
  return node
}

export function malformed(): BuiltinError {
  return new BuiltinError('x509: malformed certificate')
}

/** Reads a signed big-endian integer in its shortest form. */
export function integerOf(node: DerNode | undefined): bigint {
  const { content } = expectTag(node, TAG.integer)
  const [first, second = 0] = content
  if (first === undefined) throw malformed()
  const isPadded = second < 0x80 ? first === 0 : first === 0xff
  if (content.length > 1 && isPadded) throw malformed()
  const value = BigInt(`0x${content.toString('hex')}`)
  return BigInt.asIntN(content.length * 8, value)
}

/** Only 0xff is true. */
export function booleanOf(node: DerNode): boolean {
  const [value, ...rest] = expectTag(node, TAG.boolean).content
  if ((value !== 0 && value !== 0xff) || rest.length > 0) throw malformed()
  return value === 0xff
}

/** Returns a dotted object identifier such as `2.5.4.3`. As in Go, parts have at most 31 bits. */
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

/** Returns the bytes of a bit string without the count of unused bits. */
export function bitsOf(node: DerNode | undefined): Buffer {
  const { content } = expectTag(node, TAG.bitString)
  const [unused = 8, ...bytes] = content
  if (unused > 7 || ((bytes.at(-1) ?? 0xff) & ((1 << unused) - 1)) !== 0) throw malformed()
  return content.subarray(1)
}

/** Permitted characters of each string type, in ISO-8859-1. */
const CHARACTERS: ReadonlyMap<number, RegExp> = new Map([
  [TAG.printableString, /^[A-Za-z0-9'()+,\-./ :=?*&]*$/],
  [TAG.ia5String, /^[\0-\x7f]*$/],
  [TAG.numericString, /^[\d ]*$/],
])

/** Reads a string of any type. Throws BuiltinError for characters that its type does not permit. */
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

/** Reads a UTCTime or GeneralizedTime as RFC 3339 in UTC. Throws BuiltinError. */
export function timeOf(node: DerNode): string {
  const time = derTime(node)
  if (time === undefined) throw malformed()
  return time
}
