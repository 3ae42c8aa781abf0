import type { Generated } from 'kysely'
import type { RegistryEntry, RegistryKind, RegistrySource, RegistryVersion } from '../ports/registry-store.js'
import { unpackBody } from './packed-body.js'

/** A stored entry of the registry. */
export interface RegistryEntryRow {
  id: number
  kind: string
  key: string
  application_key: string
  application: string
  name: string
  pipeline_id: string | null
  digest: string | null
  changed_ms: number
  changed_by: string | null
  recorded_ms: number
  version: number
}

/** A stored version of an entry. */
export interface RegistryVersionRow {
  entry_id: number
  version: number
  changed_ms: number
  changed_by: string | null
  recorded_ms: number
  source: string
  seq: number | null
  definition_bytes: number | null
  /** Deflated JSON text. */
  definition: Uint8Array | null
}

/** The tables of the registry, as Kysely sees them. */
export interface RegistryTables {
  registry_entries: NewEntryRow & { id: Generated<number> }
  registry_versions: RegistryVersionRow
  event_queue: { seq: number }
}

/** A new entry. */
export type NewEntryRow = Omit<RegistryEntryRow, 'id'>

/** The columns of an entry without its number. */
export const ENTRY_COLUMNS = [
  'kind',
  'key',
  'application_key',
  'application',
  'name',
  'pipeline_id',
  'digest',
  'changed_ms',
  'changed_by',
  'recorded_ms',
  'version',
] as const satisfies readonly (keyof NewEntryRow)[]

/** The columns of a version. */
export const VERSION_COLUMNS = [
  'entry_id',
  'version',
  'changed_ms',
  'changed_by',
  'recorded_ms',
  'source',
  'seq',
  'definition_bytes',
  'definition',
] as const satisfies readonly (keyof RegistryVersionRow)[]

/** Maps a row to an entry. */
export function toEntry(row: RegistryEntryRow): RegistryEntry {
  return {
    id: row.id,
    kind: row.kind as RegistryKind,
    key: row.key,
    applicationKey: row.application_key,
    application: row.application,
    name: row.name,
    pipelineId: row.pipeline_id ?? undefined,
    digest: row.digest ?? undefined,
    changedMs: row.changed_ms,
    changedBy: row.changed_by ?? undefined,
    recordedMs: row.recorded_ms,
    version: row.version,
  }
}

/** Maps a row to a version. */
export function toVersion(row: RegistryVersionRow): RegistryVersion {
  return {
    version: row.version,
    changedMs: row.changed_ms,
    changedBy: row.changed_by ?? undefined,
    recordedMs: row.recorded_ms,
    source: row.source as RegistrySource,
    seq: row.seq ?? undefined,
    definition: unpackDefinition(row),
  }
}

/** Returns the JSON text of a version's definition. */
export function unpackDefinition({
  definition,
  definition_bytes: bytes,
}: Pick<RegistryVersionRow, 'definition' | 'definition_bytes'>): string | undefined {
  return definition === null || bytes === null ? undefined : unpackBody(definition, bytes).toString()
}
