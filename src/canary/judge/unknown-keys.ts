import { z } from 'zod'

import { unknownMembers } from '../../lib/validation/unknown-members.js'
import type { UnknownMember } from '../../lib/validation/unknown-members.js'
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
