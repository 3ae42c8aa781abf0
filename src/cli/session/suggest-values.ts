import { z } from 'zod'

import { isRecord } from '../../lib/validation/record.js'
import { nearestName } from '../../lib/text/nearest-name.js'
import type { PageOptions } from './list-options.js'
import type { ServiceClient } from './service-client.js'
import type { OutputOptions } from './shared-options.js'
import type { Terminal } from './terminal.js'

/** Of more values than these, not all are named to who has written none of them. */
const MAX_NAMED = 10
/** Among so many entries, the newest of the list, values are looked for. */
const SEARCHED_ENTRIES = 500

/** What a flag asked for, and the member of an entry that it is held against. */
export interface FilterValue {
  readonly flag: string
  readonly value: string | undefined
  readonly member: string
}

/** A list as it was asked for and answered. */
export interface QueriedList {
  /** Its route, and the member of the answer that holds its entries. */
  readonly path: string
  readonly entries: string
  readonly filters: readonly FilterValue[]
  /** How many entries were found. */
  readonly found: number
}

/** The flags that most lists have. */
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
 * Where a person's list has nothing at all: tells on standard error, for each value of a flag that none of the newest entries has, which one was likely
 * meant, or which there are. Says nothing where the values are right, and only nothing is found for them together.
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
    if (!values.has(value)) terminal.err(`${sentenceOf(flag, value, [...values])}\n`)
  }
}

/** A value, and for a path all that lies above it, as `--path` takes it; for packages their names. */
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
  return `none of the newest ${SEARCHED_ENTRIES} has ${flag} ${value}${known}`
}
