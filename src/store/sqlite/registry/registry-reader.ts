import type { Database } from 'better-sqlite3'
import type { RegistryEntry, RegistryQuery, RegistryReader } from '../../ports/registry-store.js'
import { toEntry, toVersion } from '../../tables/registry-table.js'
import type { RegistryEntryRow, RegistryVersionRow } from '../../tables/registry-table.js'

const NO_VERSION = 2 ** 31

/** Reads the registry on any connection. */
export function makeRegistryReader(database: Database): RegistryReader {
  const one = (where: string): ((...values: (string | number)[]) => Promise<RegistryEntry | undefined>) => {
    const statement = database.prepare<(string | number)[], RegistryEntryRow>(
      `select * from registry_entries where ${where} limit 1`,
    )
    return (...values) => {
      const row = statement.get(...values)
      return Promise.resolve(row === undefined ? undefined : toEntry(row))
    }
  }
  const versions = database.prepare<[number, number, number], RegistryVersionRow>(
    'select * from registry_versions where entry_id = ? and version < ? order by version desc limit ?',
  )
  const all = database.prepare<[number, string, number], RegistryEntryRow>(
    // By number alone: an index of the kind would have all of a kind sorted for each page.
    'select * from registry_entries where id > ? and +kind = ? order by id limit ?',
  )
  const applications = database
    .prepare<[number], string>(
      `select min(application) from registry_entries where kind = 'pipeline' and digest is not null
       group by application_key order by application_key limit ?`,
    )
    .pluck()
  const waiting = database.prepare('select 1 from event_queue limit 1')
  return {
    page: (query) => Promise.resolve(readPage(database, query).map(toEntry)),
    findById: one('id = ?'),
    findApplication: one("kind = 'application' and key = ?"),
    findPipeline: one('pipeline_id = ?'),
    findPipelineByKey: one("kind = 'pipeline' and key = ? order by digest is null, changed_ms desc"),
    applicationsOfPipelines: (limit) => Promise.resolve(applications.all(limit)),
    versions: (id, limit, before = NO_VERSION) =>
      Promise.resolve(versions.all(id, before, limit).map(toVersion)),
    all: (kind, afterId, limit) => Promise.resolve(all.all(afterId, kind, limit).map(toEntry)),
    hasWaitingEvents: () => Promise.resolve(waiting.get() !== undefined),
  }
}

function readPage(database: Database, query: RegistryQuery): RegistryEntryRow[] {
  const { kind, applicationKey, nameContains, withDeleted, limit, afterId } = query
  const order = 'application_key, name, id'
  const conditions = [
    'kind = @kind',
    applicationKey === undefined ? '' : 'application_key = @applicationKey',
    nameContains === undefined ? '' : 'instr(lower(name), @part) > 0',
    withDeleted ? '' : 'digest is not null',
    afterId === undefined ? '' : `(${order}) > (select ${order} from registry_entries where id = @afterId)`,
  ].filter((condition) => condition !== '')
  const sql = `select * from registry_entries where ${conditions.join(' and ')} order by ${order} limit @limit`
  return database.prepare<[Record<string, unknown>], RegistryEntryRow>(sql).all({
    kind,
    limit,
    ...(applicationKey !== undefined && { applicationKey }),
    ...(nameContains !== undefined && { part: nameContains.toLowerCase() }),
    ...(afterId !== undefined && { afterId }),
  })
}
