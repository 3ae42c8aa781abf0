import type { z } from 'zod'

import { AppError, toError } from '../../../errors/app-error.js'
import { schemaSentence } from '../../../lib/validation/schema-sentence.js'
import type { Scope } from '../../sources.js'
import { Filling } from './filling.js'

/** The schema of a query in JSON, and the places of its members. */
export interface JsonQuery<Query> {
  /** As the end of a sentence: "the query is no metric of CloudWatch". */
  readonly what: string
  readonly schema: z.ZodType<Query>
  readonly fill: (query: Readonly<Record<string, unknown>>, filling: Filling) => unknown
}

/**
 * A query that is a JSON object, with its placeholders filled, as text. Raises `invalid` with all
 * problems.
 */
export function fillJsonQuery<Query>(
  template: string,
  scope: Scope,
  { what, schema, fill }: JsonQuery<Query>,
): string {
  const filling = new Filling(scope)
  const filled = filling.finish(fill(parseJson(template), filling))
  const query = schema.safeParse(filled, { error: schemaSentence, reportInput: true })
  if (query.success) return JSON.stringify(query.data)
  const problems = query.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`)
  throw new AppError('invalid', `the query is no ${what}: ${problems.join('; ')}`, { code: 'invalid_query' })
}

function parseJson(template: string): Readonly<Record<string, unknown>> {
  try {
    // It starts with a brace, so it is an object or a syntax error.
    return JSON.parse(template) as Readonly<Record<string, unknown>>
  } catch (raw) {
    throw new AppError('invalid', `the query starts like JSON but is not: ${toError(raw).message}`, {
      code: 'invalid_query',
    })
  }
}
