import { z } from 'zod'

import { readBySchema } from '../../../lib/validation/read-by-schema.js'
import { SEVERITIES } from '../topics/default-topics.js'
import type { Topic } from '../topics/default-topics.js'

/** How strict the judge of logs is. */
export type Sensitivity = 'high' | 'medium' | 'low'

/** How the logs of an application are fetched and judged. All of it can be written as JSON. */
export interface LogTemplate {
  readonly templateName: string
  readonly monitoringProvider: string | undefined
  readonly accountName: string | undefined
  readonly index: string | undefined
  /** The field that holds the name of an instance, such as `kubernetes.pod_name`. */
  readonly filterKey: string | undefined
  /** The field that holds the message. */
  readonly responseKeywords: string | undefined
  readonly regExFilter: boolean
  readonly regExResponseKey: string | undefined
  /** The query that picks the lines, in the language of the source. */
  readonly regularExpression: string | undefined
  /** `autonomous` judges the canary without a baseline. */
  readonly scoringAlgorithm: 'canary' | 'autonomous'
  readonly sensitivity: Sensitivity
  readonly autoBaseline: boolean
  readonly infoScoring: boolean
  readonly contextualCluster: boolean
  readonly contextualWindowSize?: number | undefined
  readonly streamId: string | undefined
  readonly tagEnabled: boolean
  readonly tags: readonly LogTag[]
  readonly errorTopics: readonly Topic[]
  readonly disableDefaultErrorTopics: boolean
}

/** A tag for the lines that contain a string. */
export interface LogTag {
  readonly string: string
  readonly tag: string
}

/** Clients send an empty string or null for unset members. */
const text = z
  .string()
  .nullish()
  .transform((given) => (given === null || given === '' ? undefined : given))
const flag = z
  .union([z.boolean(), z.enum(['true', 'false']).transform((given) => given === 'true')])
  .default(false)
/** Accepts words in any case. */
const lower = (raw: unknown): unknown => (typeof raw === 'string' ? raw.toLowerCase() : raw)
const severityWord = (raw: unknown): unknown => {
  const word = lower(raw)
  return word === 'warning' ? 'warn' : word
}

/**
 * JSON calls the text `string`, YAML `errorString`. Whether a topic is a default or custom one does
 * not matter here.
 */
const ErrorTopic = z
  .looseObject({ string: text, errorString: text, topic: z.preprocess(severityWord, z.enum(SEVERITIES)) })
  .refine((given) => (given.string ?? given.errorString) !== undefined, {
    error: 'needs string, the text that its lines contain',
  })
  .transform((given) => ({ string: given.string ?? given.errorString ?? '', severity: given.topic }))

const Template = z.object({
  templateName: z.string().min(1),
  monitoringProvider: text,
  accountName: text,
  index: text,
  filterKey: text,
  responseKeywords: text,
  regExFilter: flag,
  regExResponseKey: text,
  regularExpression: text,
  scoringAlgorithm: z.preprocess(lower, z.enum(['canary', 'autonomous'])).default('canary'),
  sensitivity: z.preprocess(lower, z.enum(['high', 'medium', 'low'])).default('medium'),
  autoBaseline: flag,
  infoScoring: flag,
  contextualCluster: flag,
  contextualWindowSize: z.coerce.number().min(0).optional(),
  streamId: text,
  tagEnabled: flag,
  tags: z.array(z.object({ string: z.string().min(1), tag: z.string().min(1) })).default([]),
  errorTopics: z.array(ErrorTopic).default([]).refine(hasNoContradiction, {
    error: 'gives one text two severities: keep one of them',
  }),
  disableDefaultErrorTopics: flag,
})

/**
 * Reads a log template in the shape of the GitOps clients (analysis.md 3.4, "Log template fields"),
 * with their JSON or YAML names. Ignores unknown members. Raises `invalid` with all problems.
 */
export function readLogTemplate(document: unknown): LogTemplate {
  return readBySchema(Template, document, { name: 'the log template', code: 'invalid_field' })
}

function hasNoContradiction(topics: readonly Topic[]): boolean {
  const severities = new Map<string, string>()
  return topics.every(({ string, severity }) => {
    const known = severities.get(string) ?? severity
    severities.set(string, severity)
    return known === severity
  })
}
