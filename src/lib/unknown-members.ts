import { z } from 'zod'

import { nearestName } from './nearest-name.js'
import { pathText } from './path-text.js'

/** A member that a schema passes over, and what it may have been meant for. */
export interface UnknownMember {
  /** `metrics[0].criticl`. */
  readonly place: string
  readonly name: string
  /** The path of its owner with `[]` for any index, as in `AlsoKnown`. */
  readonly ownerKind: string
  readonly nearest: string | undefined
}

/** Members that are known though the schema does not read them, by the path of their owner: `''`, `metrics[]`. */
export type AlsoKnown = Readonly<Record<string, readonly string[]>>

/** The members of a document that its schema passes over. Those that are null say nothing and are not told. */
export function unknownMembers(schema: z.ZodType, document: unknown, alsoKnown: AlsoKnown): UnknownMember[] {
  return walk(schema, document, [], alsoKnown)
}

function walk(
  schema: z.core.$ZodType,
  value: unknown,
  path: readonly PropertyKey[],
  alsoKnown: AlsoKnown,
): UnknownMember[] {
  const bare = unwrapped(schema)
  if (bare instanceof z.ZodArray && Array.isArray(value)) {
    const element = unwrapped(bare.element)
    // A million points have no members.
    if (!isObjectSchema(element)) return []
    return value.flatMap((each, index) => walk(element, each, [...path, index], alsoKnown))
  }
  if (!isObjectSchema(bare) || !isObject(value)) return []
  const ownerKind = pathText(path).replace(/\[\d+\]/g, '[]')
  const read = Object.keys(bare.shape)
  const known = [...read, ...(alsoKnown[ownerKind] ?? [])]
  return Object.entries(value).flatMap(([name, member]) => {
    const place = [...path, name]
    const inner = bare.shape[name]
    if (inner !== undefined && read.includes(name)) return walk(inner, member, place, alsoKnown)
    if (known.includes(name) || member === null) return []
    const nearest = nearestName(
      name,
      known.filter((other) => !(other in value)),
    )
    return [{ place: pathText(place), name, ownerKind, nearest }]
  })
}

/** What a schema checks below its defaults and what it makes of the value. */
function unwrapped(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodPipe) return unwrapped(schema.in)
  const isWrapper =
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault
  return isWrapper ? unwrapped(schema.unwrap()) : schema
}

function isObjectSchema(schema: z.core.$ZodType): schema is z.ZodObject<z.core.$ZodShape> {
  return schema instanceof z.ZodObject
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
