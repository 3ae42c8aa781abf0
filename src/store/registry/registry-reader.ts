import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import type { RegistryEntry, RegistryKind, RegistryQuery, RegistryReader } from '../ports/registry-store.js'
import { likePattern } from '../queries/engine-sql.js'
import type { EngineSql } from '../queries/engine-sql.js'
import { prepareQuery } from '../queries/prepared-query.js'
import { toEntry, toVersion } from '../tables/registry-table.js'
import type { ServiceDatabase } from '../tables/service-database.js'

type Db = Kysely<ServiceDatabase>

/** Higher than any version. */
const NO_VERSION = 2 ** 31 - 1
const PAGE_ORDER = ['application_key', 'name', 'id'] as const

/** Reads the registry on any connection. */
export function makeRegistryReader(db: Db, { lowerName }: Pick<EngineSql, 'lowerName'>): RegistryReader {
  const entries = db.selectFrom('registry_entries').selectAll()
  return {
    ...finders(db),
    page: async (query) => (await pageQuery(db, query, lowerName).execute()).map(toEntry),
    applicationsOfPipelines: async (limit) => {
      const rows = await db
        .selectFrom('registry_entries')
        .select(({ fn }) => fn.min('application').as('name'))
        .where('kind', '=', 'pipeline')
        .where('digest', 'is not', null)
        .groupBy('application_key')
        .orderBy('application_key')
        .limit(limit)
        .execute()
      return rows.map(({ name }) => name)
    },
    versions: async (id, limit, before = NO_VERSION) => {
      const query = db
        .selectFrom('registry_versions')
        .selectAll()
        .where('entry_id', '=', id)
        .where('version', '<', before)
      return (await query.orderBy('version', 'desc').limit(limit).execute()).map(toVersion)
    },
    all: async (kind, afterId, limit) => {
      // An expression instead of the column: with the index of kinds, SQLite would sort all entries
      // of a kind for each page.
      const query = entries.where('id', '>', afterId).where(sql`kind || ''`, '=', kind)
      return (await query.orderBy('id').limit(limit).execute()).map(toEntry)
    },
    hasWaitingEvents: async () =>
      (await db.selectFrom('event_queue').select('seq').limit(1).executeTakeFirst()) !== undefined,
  }
}

/** Finds single entries. If several have one key, the newest that is not deleted comes first. */
export function finders(
  db: Db,
): Pick<RegistryReader, 'findById' | 'findApplication' | 'findPipeline' | 'findPipelineByKey'> {
  const byId = prepareQuery(db, ({ id }: { id: number }) =>
    db.selectFrom('registry_entries').selectAll().where('id', '=', id),
  )
  const byKey = prepareQuery(db, ({ kind, key }: { kind: RegistryKind; key: string }) =>
    db
      .selectFrom('registry_entries')
      .selectAll()
      .where('kind', '=', kind)
      .where('key', '=', key)
      .orderBy(sql`digest is null`)
      .orderBy('changed_ms', 'desc')
      .limit(1),
  )
  const byPipelineId = prepareQuery(db, ({ pipelineId }: { pipelineId: string }) =>
    db.selectFrom('registry_entries').selectAll().where('pipeline_id', '=', pipelineId),
  )
  const found = (row: Parameters<typeof toEntry>[0] | undefined): RegistryEntry | undefined =>
    row && toEntry(row)
  return {
    findById: async (id) => found(await byId.first({ id })),
    findApplication: async (key) => found(await byKey.first({ kind: 'application', key })),
    findPipeline: async (pipelineId) => found(await byPipelineId.first({ pipelineId })),
    findPipelineByKey: async (key) => found(await byKey.first({ kind: 'pipeline', key })),
  }
}

function pageQuery(
  db: Db,
  { kind, applicationKey, nameContains, withDeleted, limit, afterId }: RegistryQuery,
  lowerName: EngineSql['lowerName'],
) {
  let query = db.selectFrom('registry_entries').selectAll().where('kind', '=', kind)
  if (applicationKey !== undefined) query = query.where('application_key', '=', applicationKey)
  if (nameContains !== undefined) {
    query = query.where(
      sql<boolean>`${lowerName} like ${likePattern(nameContains.toLowerCase())} escape '\\'`,
    )
  }
  if (!withDeleted) query = query.where('digest', 'is not', null)
  if (afterId !== undefined) {
    const last = db.selectFrom('registry_entries').select(PAGE_ORDER).where('id', '=', afterId)
    query = query.where(sql<boolean>`(application_key, name, id) > ${last}`)
  }
  for (const column of PAGE_ORDER) query = query.orderBy(column)
  return query.limit(limit)
}
