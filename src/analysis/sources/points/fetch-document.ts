import type { DocumentAnswer, DocumentQuery, FetchBudget } from '../../sources.js'
import { wholeAnswer } from '../answers/answer-reading.js'
import type { SourceConnection } from '../answers/source-connection.js'
import { documentIn, makeWebApi } from './web.js'

/** The JSON of a web source, or the part of it that the query leads to. Raises `invalid` for a query that cannot be filled. */
export async function fetchDocument(
  { query, scope, startMs, endMs }: DocumentQuery,
  budget: FetchBudget,
  connection: SourceConnection,
): Promise<DocumentAnswer> {
  const api = makeWebApi(query)
  const filled = api.fill(query, scope)
  const [start, end] = [Math.ceil(startMs), Math.ceil(endMs)]
  const grid = { startMs: start, stepMs: end - start, count: 1 }
  const text = api.withWindow?.(filled, grid) ?? filled
  const request = api.request(filled, grid, undefined)
  const reply = await connection.ask(request, connection.startBudget(budget), wholeAnswer)
  if (!reply.isAnswered) return { query: text, problem: reply.problem }
  const found = documentIn(reply.answer, query)
  return 'document' in found
    ? { query: text, ...found }
    : { query: text, problem: `${connection.name}: ${found.problem}` }
}
