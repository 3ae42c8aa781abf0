import { toError } from '../../../errors/app-error.js'
import type { Scope } from '../../sources.js'
import { fillSearchText } from './fill-search-text.js'
import { Filling } from './filling.js'
import type { EscapeContext } from './filling.js'
import { NOWHERE, PATTERN, PLAIN, PLAIN_WORD, WILDCARD } from './escape-contexts.js'

/** Members whose values are not plain strings. */
const CONTEXTS: ReadonlyMap<string, EscapeContext> = new Map([
  ['regexp', PATTERN],
  ['wildcard', WILDCARD],
  ['script', NOWHERE],
  ['script_score', NOWHERE],
  ['runtime_mappings', NOWHERE],
])
const SEARCH_TEXTS: readonly string[] = ['query_string', 'simple_query_string']

/** Names of fields that contain placeholders. */
const FIELD_NAME: EscapeContext = {
  allows: 'the name of a field: letters, digits, "_", ".", "@" and "-"',
  escape: (value) => (/^[\w.@-]+$/.test(value) ? value : undefined),
}

/**
 * A query for Elasticsearch or OpenSearch from a template: query DSL if it starts with `{`, else
 * the syntax of `query_string`. Each placeholder is replaced by its value, escaped for its context.
 * Raises `invalid` with all problems.
 */
export function fillSearchQuery(template: string, scope: Scope): Readonly<Record<string, unknown>> {
  const filling = new Filling(scope)
  if (!template.trimStart().startsWith('{')) {
    return filling.finish({ query_string: { query: fillSearchText(template, filling) } })
  }
  const query = parseJson(template, filling)
  return filling.finish(fillMembers(query, PLAIN, filling))
}

function parseJson(template: string, filling: Filling): object {
  try {
    // It starts with a brace, so it is an object or a syntax error.
    return JSON.parse(template) as object
  } catch (raw) {
    filling.refuse(`it starts like JSON but is not: ${toError(raw).message}`)
    return {}
  }
}

/**
 * An object with the placeholders in its strings and names filled; its strings are filled for the
 * given context.
 */
export function fillMembers(
  members: object,
  context: EscapeContext,
  filling: Filling,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(members).map(([name, value]: [string, unknown]) => {
      const isSearchText = SEARCH_TEXTS.includes(name) && typeof value === 'object' && value !== null
      const filled = isSearchText
        ? fillSearchMembers(value, filling)
        : fillValue(value, CONTEXTS.get(name) ?? context, filling)
      return [filling.fill(name, FIELD_NAME), filled]
    }),
  )
}

function fillSearchMembers(members: object, filling: Filling): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(members).map(([name, value]: [string, unknown]) => [
      name,
      name === 'query' && typeof value === 'string'
        ? fillSearchText(value, filling)
        : fillValue(value, PLAIN_WORD, filling),
    ]),
  )
}

function fillValue(value: unknown, context: EscapeContext, filling: Filling): unknown {
  if (typeof value === 'string') return filling.fill(value, context)
  if (Array.isArray(value)) return value.map((element: unknown) => fillValue(element, context, filling))
  return typeof value === 'object' && value !== null ? fillMembers(value, context, filling) : value
}
