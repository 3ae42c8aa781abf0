import { RegoObject } from '../../values/value.js'
import type { RegoValue } from '../../values/value.js'
import { parseGoUrl } from '../encoding/go-url.js'
import { formatAddress } from '../net/network.js'
import { contextTag, expectTag, malformed, membersOf, oidOf, sequenceOf, TAG, textOf } from './der.js'
import type { DerNode } from './der.js'
import { arcsOf, listOrNull } from './go-values.js'

/** The attributes with a list in Go's pkix.Name, below 2.5.4. */
const LISTS: Readonly<Record<string, string>> = {
  Country: '2.5.4.6',
  Locality: '2.5.4.7',
  Province: '2.5.4.8',
  StreetAddress: '2.5.4.9',
  Organization: '2.5.4.10',
  OrganizationalUnit: '2.5.4.11',
  PostalCode: '2.5.4.17',
}
const COMMON_NAME = '2.5.4.3'
const SERIAL_NUMBER = '2.5.4.5'

interface NameAttribute {
  readonly oid: string
  readonly value: string
}

export function goName(name: DerNode | undefined): RegoObject {
  const sets = sequenceOf(name).map((set) => expectTag(set, TAG.set))
  const attributes = sets.flatMap(membersOf).map(readAttribute)
  const valuesOf = (oid: string): string[] =>
    attributes.filter((attribute) => attribute.oid === oid).map(({ value }) => value)
  const lists = Object.entries(LISTS).map(([field, oid]): [string, RegoValue] => [
    field,
    listOrNull(valuesOf(oid)),
  ])
  return new RegoObject([
    ...lists,
    ['CommonName', valuesOf(COMMON_NAME).at(-1) ?? ''],
    ['SerialNumber', valuesOf(SERIAL_NUMBER).at(-1) ?? ''],
    ['Names', listOrNull(attributes.map(goAttribute))],
    ['ExtraNames', null],
  ])
}

function readAttribute(node: DerNode): NameAttribute {
  const [oid, value] = sequenceOf(node)
  if (value === undefined) throw malformed()
  return { oid: oidOf(oid), value: textOf(value) }
}

function goAttribute({ oid, value }: NameAttribute): RegoObject {
  return RegoObject.fromRecord({ Type: arcsOf(oid), Value: value })
}

/** The kinds of GeneralName (RFC 5280, 4.2.1.6) that Go supports. */
export interface GeneralNames {
  readonly emails: readonly string[]
  readonly dnsNames: readonly string[]
  readonly uris: readonly string[]
  readonly ips: readonly Buffer[]
}

const ASCII = /^[\0-\x7f]*$/
const EMAIL = contextTag(1)
const DNS = contextTag(2)
const URI = contextTag(6)
const IP = contextTag(7)

/**
 * Reads the names of a subject. Throws BuiltinError for those that Go refuses: non-ASCII names,
 * addresses of an odd length, and invalid URLs.
 */
export function readSubjectNames(sequence: DerNode | undefined): GeneralNames {
  const names = sortGeneralNames(sequence === undefined ? [] : sequenceOf(sequence))
  const { emails, dnsNames, uris, ips } = names
  if ([...emails, ...dnsNames, ...uris].some((text) => !ASCII.test(text))) throw malformed()
  if (ips.some(({ length }) => length !== 4 && length !== 16)) throw malformed()
  if (!uris.every((uri) => isDomain(parseGoUrl(uri).host))) throw malformed()
  return names
}

/** Returns true for an empty name or labels of visible characters. */
function isDomain(host: string): boolean {
  return host === '' || host.split('.').every((label) => /^[!-~]+$/.test(label))
}

export function sortGeneralNames(names: readonly DerNode[]): GeneralNames {
  const texts = (tag: number): string[] =>
    names.filter((name) => name.tag === tag).map(({ content }) => content.toString('latin1'))
  const ips = names.filter((name) => name.tag === IP).map(({ content }) => content)
  return { emails: texts(EMAIL), dnsNames: texts(DNS), uris: texts(URI), ips }
}

export function formatIp(bytes: Buffer): string {
  if (bytes.length !== 4 && bytes.length !== 16) throw malformed()
  return formatAddress(bytes.length === 4 ? 4 : 6, BigInt(`0x${bytes.toString('hex')}`))
}

/** Converts a URI to the fields of Go's url.URL. As in Go, the user is hidden. */
export function goUri(text: string): RegoObject {
  const url = parseGoUrl(text)
  return RegoObject.fromRecord({
    Scheme: url.scheme,
    Opaque: url.opaque,
    User: url.hasUser ? new RegoObject([]) : null,
    Host: url.host,
    Path: url.path,
    RawPath: url.rawPath,
    OmitHost: false,
    ForceQuery: url.forceQuery,
    RawQuery: url.query,
    Fragment: url.fragment,
    RawFragment: '',
  })
}
