import type { z } from 'zod'

import { AppError } from '../../errors/app-error.js'
import type { ErrorDetail } from '../../errors/app-error.js'
import { pathText } from '../text/path-text.js'
import { isMissing, schemaSentence } from './schema-sentence.js'

/** How to name a source of values in error messages. */
interface ValueSource {
  /** The subject of sentences about the whole, such as `the query`. */
  readonly name: string
  /** The wire code of a problem with one value. */
  readonly code: string
}

/** Further problems are only counted, because each entry of a long document can be wrong. */
const MAX_PROBLEMS = 50

/** Parses a value with its schema. Throws `invalid` with a sentence for each problem. */
export function readBySchema<S extends z.ZodType>(schema: S, raw: unknown, source: ValueSource): z.output<S> {
  const parsed = schema.safeParse(raw, { error: schemaSentence, reportInput: true })
  if (parsed.success) return parsed.data
  const { issues } = parsed.error
  const details = issues.slice(0, MAX_PROBLEMS).map((issue) => describeIssue(issue, source))
  const rest = issues.length - MAX_PROBLEMS
  if (rest > 0) details.push({ code: 'and_more', message: `${rest} more problems are not named` })
  const sentences = details.map(({ message }) => message).join('; ')
  const isAllMissing = issues.every((issue) => isMissing(issue))
  throw new AppError('invalid', `${source.name} is not valid: ${sentences}`, {
    ...(isAllMissing && { code: 'missing_fields' }),
    details,
  })
}

function describeIssue(issue: z.core.$ZodIssue, source: ValueSource): ErrorDetail {
  const { path, message } = issue
  if (issue.code === 'unrecognized_keys') {
    return { code: source.code, message: path.length === 0 ? message : `${pathText(path)}: ${message}` }
  }
  const subject = path.length === 0 ? source.name : pathText(path)
  return { code: isMissing(issue) ? 'missing_field' : source.code, message: `${subject} ${message}` }
}
