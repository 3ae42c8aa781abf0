import { z } from 'zod'

import { isRecord } from '../../lib/validation/record.js'
import { nearestName } from '../../lib/text/nearest-name.js'
import type { PageOptions } from './list-options.js'
import type { ServiceClient } from './service-client.js'
import type { OutputOptions } from './shared-options.js'
import type { Terminal } from './terminal.js'
import { printable } from '../../lib/text/shown-text.js'

/** Maximum values in a message. */
const MAX_NAMED = 10
/** Number of newest entries to search for suggestions. */
const SEARCHED_ENTRIES = 500

/** A filter flag and the member of an entry that it compares. */
export interface FilterValue {
  readonly flag: string
  readonly value: string | undefined
  readonly member: string
}

/** A list and its result. */
export interface QueriedList {
  readonly path: string
  readonly entries: string
  readonly filters: readonly FilterValue[]
  readonly found: number
}

/** Returns the filters that most lists have. */
export function scopeFlags({
  application,
  execution,
}: {
  readonly application?: string
  readonly execution?: string
}): readonly FilterValue[] {
  return [
    { flag: '--application', value: application, member: 'application' },
    { flag: '--execution', value: execution, member: 'executionId' },
  ]
}

/**
 * For an empty list, prints a suggestion to standard error for each filter value that no recent
 * entry has. Prints nothing if the values exist and only their combination matches nothing.
 */
export async function suggestValues(
  list: QueriedList,
  { cursor, format }: Pick<PageOptions, 'cursor'> & OutputOptions,
  client: ServiceClient,
  terminal: Terminal,
): Promise<void> {
  if (list.found > 0 || cursor !== undefined || format === 'json') return
  const asked = list.filters.filter(({ value }) => value !== undefined)
  if (asked.length === 0) return
  const schema = z.object({ [list.entries]: z.array(z.looseObject({})) })
  const answer = await client.request(schema, { path: list.path, query: { limit: SEARCHED_ENTRIES } })
  const entries = answer[list.entries] ?? []
  for (const { flag, value = '', member } of asked) {
    const values = new Set(entries.flatMap((entry) => namesOf(entry[member])))
    if (!values.has(value)) terminal.err(`${printable(sentenceOf(flag, value, [...values]))}\n`)
  }
}

/**
 * Returns a value; for a path, also its ancestors, as `--path` accepts them; for packages, their
 * names.
 */
function namesOf(value: unknown): readonly string[] {
  if (Array.isArray(value))
    return value.flatMap((one: unknown) => (isRecord(one) ? namesOf(one['package']) : []))
  if (typeof value !== 'string') return []
  const slashes = [...value.matchAll(/\//g)].map(({ index }) => value.slice(0, index + 1))
  return [value, ...slashes]
}

function sentenceOf(flag: string, value: string, values: readonly string[]): string {
  const nearest = nearestName(value, values)
  if (nearest !== undefined) return `nothing has ${flag} ${value}, did you mean ${nearest}?`
  const known =
    values.length > 0 && values.length <= MAX_NAMED ? `; there are ${values.toSorted().join(', ')}` : ''
  return `none of the newest ${SEARCHED_ENTRIES} entries has ${flag} ${value}${known}`
}
