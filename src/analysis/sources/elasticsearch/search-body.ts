import type { LineFilter, LinesQuery } from '../../sources.js'
import { fillSearchQuery } from '../templates/fill-search-query.js'

/** The query of a search for the lines of a window. Raises `invalid` naming everything that is wrong with its template. */
export function searchQuery(
  { query, scope, startMs, endMs, filters = [] }: LinesQuery,
  timeField: string,
): object {
  const window = { gte: Math.ceil(startMs), lt: Math.ceil(endMs), format: 'epoch_millis' }
  const wanted = query.trim() === '' ? [] : [fillSearchQuery(query, scope)]
  return { bool: { filter: [{ range: { [timeField]: window } }, ...filters.map(toClause), ...wanted] } }
}

/** As a phrase, which finds the whole value in fields of type keyword and of type text; a term would find it in the first only. */
function toClause({ field, value, match }: LineFilter): object {
  return match === 'exact' ? { match_phrase: { [field]: value } } : { prefix: { [field]: { value } } }
}
