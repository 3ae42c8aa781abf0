import type { LineFilter, LinesQuery } from '../../sources.js'
import { fillLabelQuery } from '../templates/fill-label-query.js'
import { DOUBLE_QUOTED, PATTERN, within } from '../templates/places.js'

const IN_PATTERN = within(DOUBLE_QUOTED, PATTERN)

/**
 * The LogQL of a query: its template filled, and its filters as label filters after it, or as the selector where there is no
 * template. Raises `invalid` naming everything that is wrong.
 */
export function logQuery({ query, scope, filters = [] }: LinesQuery): string {
  const matchers = filters.map(matcher)
  if (query.trim() === '' && matchers.length > 0) return `{${matchers.join(', ')}}`
  // On a line of its own: the template may end in a comment.
  return [fillLabelQuery(query, scope), ...matchers.map((text) => `| ${text}`)].join('\n')
}

/** Loki's labels have underscores where fields have dots. */
function matcher({ field, value, match }: LineFilter): string {
  const label = field.replace(/\W/g, '_').replace(/^(?=\d)/, '_')
  return match === 'exact'
    ? `${label}="${DOUBLE_QUOTED.escape(value) ?? ''}"`
    : `${label}=~"${IN_PATTERN.escape(value) ?? ''}.*"`
}
