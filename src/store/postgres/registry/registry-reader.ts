import type { RegistryEntry, RegistryQuery, RegistryReader } from '../../ports/registry-store.js'
import { toEntry, toVersion } from '../../tables/registry-table.js'
import type { RegistryEntryRow, RegistryVersionRow } from '../../tables/registry-table.js'
import type { Queries } from '../engine/session.js'
import { all, first } from '../engine/statements.js'

type EntryRow = RegistryEntryRow & Record<string, unknown>
const NO_VERSION = 2 ** 31 - 1

/** Reads the registry. */
export function makeRegistryReader(queries: Queries): RegistryReader {
  const one = async (where: string, value: string | number): Promise<RegistryEntry | undefined> => {
    const row = await first<EntryRow>(queries, `select * from registry_entries where ${where} limit 1`, [
      value,
    ])
    return row && toEntry(row)
  }
  return {
    page: async (query) => (await readPage(queries, query)).map(toEntry),
    findById: (id) => one('id = $1', id),
    findApplication: (key) => one("kind = 'application' and key = $1", key),
    findPipeline: (pipelineId) => one('pipeline_id = $1', pipelineId),
    findPipelineByKey: (key) =>
      one("kind = 'pipeline' and key = $1 order by digest is null, changed_ms desc", key),
    applicationsOfPipelines: async (limit) => {
      const text = `select min(application) as name from registry_entries
        where kind = 'pipeline' and digest is not null group by application_key order by application_key limit $1`
      return (await all<{ name: string }>(queries, text, [limit])).map(({ name }) => name)
    },
    versions: async (id, limit, before = NO_VERSION) => {
      const text =
        'select * from registry_versions where entry_id = $1 and version < $2 order by version desc limit $3'
      const rows = await all<RegistryVersionRow & Record<string, unknown>>(queries, text, [id, before, limit])
      return rows.map(toVersion)
    },
    all: async (kind, afterId, limit) => {
      const text = 'select * from registry_entries where id > $1 and kind = $2 order by id limit $3'
      return (await all<EntryRow>(queries, text, [afterId, kind, limit])).map(toEntry)
    },
    hasWaitingEvents: async () => (await first(queries, 'select 1 from event_queue limit 1')) !== undefined,
  }
}

function readPage(queries: Queries, query: RegistryQuery): Promise<EntryRow[]> {
  const { kind, applicationKey, nameContains, withDeleted, limit, afterId } = query
  const order = 'application_key, name, id'
  const values: unknown[] = []
  const place = (value: unknown): string => `$${values.push(value)}`
  const conditions = [`kind = ${place(kind)}`]
  if (applicationKey !== undefined) conditions.push(`application_key = ${place(applicationKey)}`)
  if (nameContains !== undefined) {
    conditions.push(`position(${place(nameContains.toLowerCase())} in lower(name collate "default")) > 0`)
  }
  if (!withDeleted) conditions.push('digest is not null')
  if (afterId !== undefined) {
    conditions.push(`(${order}) > (select ${order} from registry_entries where id = ${place(afterId)})`)
  }
  const text = `select * from registry_entries where ${conditions.join(' and ')} order by ${order} limit ${place(limit)}`
  return all<EntryRow>(queries, text, values)
}
