import { z } from 'zod'

import { nearestName } from '../text/nearest-name.js'
import { pathText } from '../text/path-text.js'

/** A member that a schema ignores, with the likely intended name. */
export interface UnknownMember {
  /** For example `metrics[0].criticl`. */
  readonly place: string
  readonly name: string
  /** The path of its owner with `[]` for any index, as in `AlsoKnown`. */
  readonly ownerKind: string
  readonly nearest: string | undefined
}

/** Known members that the schema does not read, by the path of their owner: `''`, `metrics[]`. */
type AlsoKnown = Readonly<Record<string, readonly string[]>>

/** Maximum number of members per document for which a similar name is searched. */
const MAX_COMPARED = 200

/** Returns the members of a document that its schema ignores, except null ones. */
export function unknownMembers(schema: z.ZodType, document: unknown, alsoKnown: AlsoKnown): UnknownMember[] {
  return new MemberWalk(alsoKnown).of(schema, document, [])
}

class MemberWalk {
  readonly #alsoKnown: AlsoKnown
  #compared = 0

  constructor(alsoKnown: AlsoKnown) {
    this.#alsoKnown = alsoKnown
  }

  of(schema: z.core.$ZodType, value: unknown, path: readonly PropertyKey[]): UnknownMember[] {
    const bare = unwrapped(schema)
    if (bare instanceof z.ZodArray && Array.isArray(value)) {
      const element = unwrapped(bare.element)
      // Arrays of scalars, such as a million points, have no members.
      if (!isObjectSchema(element)) return []
      return value.flatMap((each, index) => this.of(element, each, [...path, index]))
    }
    return isObjectSchema(bare) && isObject(value) ? this.#members(bare, value, path) : []
  }

  #members(
    { shape }: z.ZodObject<z.core.$ZodShape>,
    value: Readonly<Record<string, unknown>>,
    path: readonly PropertyKey[],
  ): UnknownMember[] {
    const ownerKind = pathText(path).replace(/\[\d+\]/g, '[]')
    const known = new Set([...Object.keys(shape), ...(this.#alsoKnown[ownerKind] ?? [])])
    const unused = [...known].filter((name) => !Object.hasOwn(value, name))
    return Object.entries(value).flatMap(([name, member]) => {
      const place = [...path, name]
      const inner = Object.hasOwn(shape, name) ? shape[name] : undefined
      if (inner !== undefined) return this.of(inner, member, place)
      if (known.has(name) || member === null) return []
      return [{ place: pathText(place), name, ownerKind, nearest: this.#nearest(name, unused) }]
    })
  }

  #nearest(name: string, unused: readonly string[]): string | undefined {
    return this.#compared++ < MAX_COMPARED ? nearestName(name, unused) : undefined
  }
}

/** The schema inside defaults, optionals and transformations. */
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
