import type { z } from 'zod'

import { AppError } from '../../errors/app-error.js'
import type { ErrorDetail } from '../../errors/app-error.js'
import { pathText } from '../text/path-text.js'
import { isMissing, schemaSentence } from './schema-sentence.js'

/** How the problems of one place that values come from are called. */
interface ValuePlace {
  /** The subject of the sentence about the whole: `the query`. */
  readonly name: string
  /** The wire code of a problem with one value. */
  readonly code: string
}

/** Beyond these they are only counted: a document of many entries can be wrong in each. */
const MAX_PROBLEMS = 50

/** A value as its schema reads it. Raises `invalid` with a sentence for each thing that is wrong with it. */
export function readBySchema<S extends z.ZodType>(schema: S, raw: unknown, place: ValuePlace): z.output<S> {
  const parsed = schema.safeParse(raw, { error: schemaSentence, reportInput: true })
  if (parsed.success) return parsed.data
  const { issues } = parsed.error
  const details = issues.slice(0, MAX_PROBLEMS).map((issue) => describeIssue(issue, place))
  const rest = issues.length - MAX_PROBLEMS
  if (rest > 0) details.push({ code: 'and_more', message: `${rest} more problems are not named` })
  const sentences = details.map(({ message }) => message).join('; ')
  const isAllMissing = issues.every((issue) => isMissing(issue))
  throw new AppError('invalid', `${place.name} is not valid: ${sentences}`, {
    ...(isAllMissing && { code: 'missing_fields' }),
    details,
  })
}

function describeIssue(issue: z.core.$ZodIssue, place: ValuePlace): ErrorDetail {
  const { path, message } = issue
  if (issue.code === 'unrecognized_keys') {
    return { code: place.code, message: path.length === 0 ? message : `${pathText(path)}: ${message}` }
  }
  const subject = path.length === 0 ? place.name : pathText(path)
  return { code: isMissing(issue) ? 'missing_field' : place.code, message: `${subject} ${message}` }
}
