import { z } from 'zod'
import { nearestName } from '../../lib/text/nearest-name.js'
import { pathText } from '../../lib/text/path-text.js'
import { CanaryConfig, CanaryMembers, CanaryMetric } from './canary-config.js'

/**
 * The members of a metric's query that are read from a canary config of Kayenta (analysis.md 1.1).
 */
export const CanaryQuery = z.looseObject({
  customInlineTemplate: z.string().nullish(),
  customFilterTemplate: z.string().nullish(),
  metricName: z.string().nullish(),
  labelBindings: z.array(z.string()).nullish(),
  groupByFields: z.array(z.string()).nullish(),
  type: z.string().nullish(),
  resourceType: z.string().nullish(),
  customFilter: z.unknown().optional(),
  q: z.string().nullish(),
  select: z.string().nullish(),
  metricType: z.string().nullish(),
  crossSeriesReducer: z.string().nullish(),
  perSeriesAligner: z.string().nullish(),
  serviceType: z.string().nullish(),
  fields: z.array(z.string()).nullish(),
  tags: z.unknown().optional(),
  queryPairs: z.array(z.looseObject({ key: z.string(), value: z.string() })).nullish(),
  aggregationMethod: z.string().nullish(),
  aggregate: z.string().nullish(),
  summarization: z.string().nullish(),
})
export type CanaryQueryMembers = z.output<typeof CanaryQuery>

/**
 * Members that Kayenta and the orchestrator's console write into a canary config and that a judge
 * does not use.
 */
const OF_KAYENTA = {
  '': [
    'id',
    'name',
    'description',
    'applications',
    'configVersion',
    'judge',
    'templates',
    'createdTimestamp',
    'createdTimestampIso',
    'updatedTimestamp',
    'updatedTimestampIso',
    'isNew',
    'owner',
  ],
  'metrics[]': ['id', 'scopeName'],
  'metrics[].query': ['projectId', 'field', 'aggregator', 'dimensions', 'downsample', 'rate', 'region'],
}
const MAX_NAMED = 20
const JUDGED = Object.keys(CanaryMembers.shape)
/** With the queries, which a judge does not read. */
const Config = CanaryConfig.extend({
  metrics: z.array(CanaryMetric.extend({ query: CanaryQuery, exposureQuery: CanaryQuery })),
})
const QUERIES: readonly string[] = ['metrics[].query', 'metrics[].exposureQuery']

/**
 * Members of a canary config that are never read, one sentence each with the path: a misspelt
 * `critical` leaves a metric uncritical. In queries only near misses of a known member are
 * reported, since each of Kayenta's sources has its own members.
 */
export function unknownKeys(document: unknown): readonly string[] {
  const problems = unknownMembers(Config, document, {
    ...OF_KAYENTA,
    'metrics[].exposureQuery': OF_KAYENTA['metrics[].query'],
  })
    .filter(({ ownerKind, nearest }) => !QUERIES.includes(ownerKind) || nearest !== undefined)
    .map(sentence)
  const rest = problems.length - MAX_NAMED
  return rest > 0 ? [...problems.slice(0, MAX_NAMED), `${rest} more members are not known`] : problems
}

function sentence({ place, name, ownerKind, nearest }: UnknownMember): string {
  const says = `${place} is not known and does nothing`
  if (ownerKind === 'metrics[]' && JUDGED.includes(name)) {
    return `${says}: it belongs into analysisConfigurations.canary`
  }
  return nearest === undefined ? says : `${says}: did you mean ${nearest}?`
}

/** A member that a schema ignores, with the likely intended name. */
interface UnknownMember {
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
