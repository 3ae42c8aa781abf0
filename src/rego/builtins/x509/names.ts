import { RegoObject } from '../../values/value.js'
import type { RegoValue } from '../../values/value.js'
import { expectTag, malformed, membersOf, oidOf, sequenceOf, TAG, textOf } from './der.js'
import type { DerNode } from './der.js'
import { arcsOf, listOrNull } from './go-values.js'

/** The attributes that Go's pkix.Name has a list for, below 2.5.4. */
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

/** A distinguished name with the fields of Go's pkix.Name. */
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
