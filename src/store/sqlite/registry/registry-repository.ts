import type { Database } from 'better-sqlite3'
import type {
  RegistryEntry,
  RegistryHead,
  RegistryRepository,
  VersionOrigin,
} from '../../ports/registry-store.js'
import { packBody } from '../../tables/packed-body.js'
import { toEntry, unpackDefinition } from '../../tables/registry-table.js'
import type { RegistryEntryRow, RegistryVersionRow } from '../../tables/registry-table.js'

type Definition = Pick<RegistryVersionRow, 'definition' | 'definition_bytes'>

/** The registry on a connection that writes. */
export function makeRegistryRepository(database: Database): RegistryRepository {
  const byKey = database.prepare<[string, string], RegistryEntryRow>(
    'select * from registry_entries where kind = ? and key = ? order by digest is null, changed_ms desc limit 1',
  )
  const byPipelineId = database.prepare<[string], RegistryEntryRow>(
    'select * from registry_entries where pipeline_id = ?',
  )
  const withoutId = database.prepare<[string], RegistryEntryRow>(
    "select * from registry_entries where kind = 'pipeline' and key = ? and pipeline_id is null limit 1",
  )
  const definition = database.prepare<[number, number], Definition>(
    'select definition, definition_bytes from registry_versions where entry_id = ? and version = ?',
  )
  const touch = database.prepare<[number, string | null, number, number]>(
    'update registry_entries set changed_ms = ?, changed_by = ?, recorded_ms = ? where id = ?',
  )
  const save = prepareSave(database)
  const found = (row: RegistryEntryRow | undefined): Promise<RegistryEntry | undefined> =>
    Promise.resolve(row === undefined ? undefined : toEntry(row))
  return {
    findApplication: (key) => found(byKey.get('application', key)),
    findPipeline: (pipelineId, key) =>
      found(
        pipelineId === undefined
          ? byKey.get('pipeline', key)
          : (byPipelineId.get(pipelineId) ?? withoutId.get(key)),
      ),
    definition: ({ id, version }) => {
      const row = definition.get(id, version)
      return Promise.resolve(row === undefined ? undefined : unpackDefinition(row))
    },
    touch: ({ id }, { changedMs, changedBy, recordedMs }) => {
      touch.run(changedMs, changedBy ?? null, recordedMs, id)
      return Promise.resolve()
    },
    save: (known, head, origin) => Promise.resolve(save(known, head, origin)),
  }
}

function prepareSave(
  database: Database,
): (known: RegistryEntry | undefined, head: RegistryHead, origin: VersionOrigin) => RegistryEntry {
  const insert = database.prepare<[Record<string, unknown>]>(
    `insert into registry_entries (kind, key, application_key, application, name, pipeline_id, digest, changed_ms, changed_by, recorded_ms, version)
     values (@kind, @key, @applicationKey, @application, @name, @pipelineId, @digest, @changedMs, @changedBy, @recordedMs, @version)`,
  )
  const update = database.prepare<[Record<string, unknown>]>(
    `update registry_entries set key = @key, application_key = @applicationKey, application = @application, name = @name,
       pipeline_id = @pipelineId, digest = @digest, changed_ms = @changedMs, changed_by = @changedBy,
       recorded_ms = @recordedMs, version = @version where id = @id and kind = @kind`,
  )
  const addVersion = database.prepare<[Record<string, unknown>]>(
    `insert into registry_versions (entry_id, version, changed_ms, changed_by, recorded_ms, source, seq, definition_bytes, definition)
     values (@id, @version, @changedMs, @changedBy, @recordedMs, @source, @seq, @definitionBytes, @definition)`,
  )
  return (known, head, { source, seq, definition }) => {
    const version = (known?.version ?? 0) + 1
    const columns = {
      ...head,
      pipelineId: head.pipelineId ?? null,
      digest: head.digest ?? null,
      changedBy: head.changedBy ?? null,
      version,
    }
    const id = known?.id ?? Number(insert.run(columns).lastInsertRowid)
    if (known !== undefined) update.run({ ...columns, id })
    const bytes = definition === undefined ? undefined : Buffer.from(definition)
    addVersion.run({
      id,
      version,
      changedMs: head.changedMs,
      changedBy: columns.changedBy,
      recordedMs: head.recordedMs,
      source,
      seq: seq ?? null,
      definitionBytes: bytes?.length ?? null,
      definition: bytes === undefined ? null : packBody(bytes),
    })
    return { ...head, id, version }
  }
}
