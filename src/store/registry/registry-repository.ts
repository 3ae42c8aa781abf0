import type { Kysely } from 'kysely'
import type { EventQueue, RegistryRepository, VersionOrigin } from '../ports/registry-store.js'
import type { RegistryEntry, RegistryHead } from '../ports/registry-store.js'
import { prepareQuery, rowOf } from '../queries/prepared-query.js'
import { packBody } from '../tables/packed-body.js'
import { ENTRY_COLUMNS, toEntry, unpackDefinition, VERSION_COLUMNS } from '../tables/registry-table.js'
import type { NewEntryRow, RegistryVersionRow } from '../tables/registry-table.js'
import type { ServiceDatabase } from '../tables/service-database.js'
import { finders } from './registry-reader.js'

type Db = Kysely<ServiceDatabase>

/** Makes the repository of the registry on a connection that writes. */
export function makeRegistryRepository(db: Db): RegistryRepository {
  const find = finders(db)
  const withoutId = prepareQuery(db, ({ key }: { key: string }) =>
    db
      .selectFrom('registry_entries')
      .selectAll()
      .where('kind', '=', 'pipeline')
      .where('key', '=', key)
      .where('pipeline_id', 'is', null)
      .limit(1),
  )
  const definition = prepareQuery(db, ({ id, version }: { id: number; version: number }) =>
    db
      .selectFrom('registry_versions')
      .select(['definition', 'definition_bytes'])
      .where('entry_id', '=', id)
      .where('version', '=', version),
  )
  const save = prepareSave(db)
  return {
    findApplication: find.findApplication,
    findPipeline: async (pipelineId, key) => {
      if (pipelineId === undefined) return await find.findPipelineByKey(key)
      const known = await find.findPipeline(pipelineId)
      if (known !== undefined) return known
      const row = await withoutId.first({ key })
      return row && toEntry(row)
    },
    definition: async ({ id, version }) => {
      const row = await definition.first({ id, version })
      return row && unpackDefinition(row)
    },
    touch: async ({ id }, { changedMs, changedBy, recordedMs }) => {
      await db
        .updateTable('registry_entries')
        .set({ changed_ms: Math.trunc(changedMs), changed_by: changedBy ?? null, recorded_ms: recordedMs })
        .where('id', '=', id)
        .execute()
    },
    save,
  }
}

function prepareSave(db: Db): RegistryRepository['save'] {
  const insert = prepareQuery(db, (args: NewEntryRow) =>
    db.insertInto('registry_entries').values(rowOf(args, ENTRY_COLUMNS)).returning('id'),
  )
  const update = prepareQuery(db, (args: NewEntryRow & { id: number }) =>
    db
      .updateTable('registry_entries')
      .set(rowOf(args, ENTRY_COLUMNS))
      .where('id', '=', args.id)
      .where('kind', '=', args.kind),
  )
  const addVersion = prepareQuery(db, (args: RegistryVersionRow) =>
    db.insertInto('registry_versions').values(rowOf(args, VERSION_COLUMNS)),
  )
  return async (known, head, origin) => {
    const version = (known?.version ?? 0) + 1
    const row = entryRow(head, version)
    const id = known?.id ?? (await insert.first(row))?.id ?? 0
    const entry: RegistryEntry = { ...head, id, version }
    if (known !== undefined) await update.run({ ...row, id })
    await addVersion.run(versionRow(entry, origin))
    return entry
  }
}

function entryRow(head: RegistryHead, version: number): NewEntryRow {
  return {
    kind: head.kind,
    key: head.key,
    application_key: head.applicationKey,
    application: head.application,
    name: head.name,
    pipeline_id: head.pipelineId ?? null,
    digest: head.digest ?? null,
    changed_ms: Math.trunc(head.changedMs),
    changed_by: head.changedBy ?? null,
    recorded_ms: head.recordedMs,
    version,
  }
}

function versionRow(
  { id, version, changedMs, changedBy, recordedMs }: RegistryEntry,
  { source, seq, definition }: VersionOrigin,
): RegistryVersionRow {
  const bytes = definition === undefined ? undefined : Buffer.from(definition)
  return {
    entry_id: id,
    version,
    changed_ms: Math.trunc(changedMs),
    changed_by: changedBy ?? null,
    recorded_ms: recordedMs,
    source,
    seq: seq ?? null,
    definition_bytes: bytes?.length ?? null,
    definition: bytes === undefined ? null : packBody(bytes),
  }
}

/** Makes the queue of waiting events on a connection that writes. */
export function makeEventQueue(db: Db): EventQueue {
  const insert = prepareQuery(db, ({ seq }: { seq: number }) =>
    db
      .insertInto('event_queue')
      .values({ seq })
      .onConflict((conflict) => conflict.doNothing()),
  )
  const remove = prepareQuery(db, ({ seq }: { seq: number }) =>
    db.deleteFrom('event_queue').where('seq', '=', seq),
  )
  return {
    add: async (seq) => {
      await insert.run({ seq })
    },
    waiting: async (limit) => {
      const rows = await db.selectFrom('event_queue').select('seq').orderBy('seq').limit(limit).execute()
      return rows.map(({ seq }) => seq)
    },
    remove: async (seq) => {
      await remove.run({ seq })
    },
  }
}
