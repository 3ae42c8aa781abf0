import type {
  RegistryEntry,
  RegistryHead,
  RegistryRepository,
  VersionOrigin,
} from '../../ports/registry-store.js'
import { packBody } from '../../tables/packed-body.js'
import { toEntry, unpackDefinition } from '../../tables/registry-table.js'
import type { RegistryEntryRow, RegistryVersionRow } from '../../tables/registry-table.js'
import type { Queries } from '../engine/session.js'
import { first, run } from '../engine/statements.js'

type EntryRow = RegistryEntryRow & Record<string, unknown>

/** The registry in a transaction. */
export function makeRegistryRepository(queries: Queries): RegistryRepository {
  const find = async (where: string, ...values: string[]): Promise<RegistryEntry | undefined> => {
    const row = await first<EntryRow>(
      queries,
      `select * from registry_entries where ${where} limit 1`,
      values,
    )
    return row && toEntry(row)
  }
  const byKey = (kind: string, key: string) =>
    find('kind = $1 and key = $2 order by digest is null, changed_ms desc', kind, key)
  return {
    findApplication: (key) => byKey('application', key),
    findPipeline: async (pipelineId, key) => {
      if (pipelineId === undefined) return await byKey('pipeline', key)
      return (
        (await find('pipeline_id = $1', pipelineId)) ??
        (await find("kind = 'pipeline' and key = $1 and pipeline_id is null", key))
      )
    },
    definition: async ({ id, version }) => {
      const text =
        'select definition, definition_bytes from registry_versions where entry_id = $1 and version = $2'
      const row = await first<Pick<RegistryVersionRow, 'definition' | 'definition_bytes'>>(queries, text, [
        id,
        version,
      ])
      return row && unpackDefinition(row)
    },
    touch: async ({ id }, { changedMs, changedBy, recordedMs }) => {
      await run(
        queries,
        'update registry_entries set changed_ms = $2, changed_by = $3, recorded_ms = $4 where id = $1',
        [id, Math.trunc(changedMs), changedBy ?? null, recordedMs],
      )
    },
    save: (known, head, origin) => save(queries, known, head, origin),
  }
}

const ENTRY_COLUMNS = [
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
] as const

async function save(
  queries: Queries,
  known: RegistryEntry | undefined,
  head: RegistryHead,
  origin: VersionOrigin,
): Promise<RegistryEntry> {
  const version = (known?.version ?? 0) + 1
  const values = [
    head.kind,
    head.key,
    head.applicationKey,
    head.application,
    head.name,
    head.pipelineId ?? null,
    head.digest ?? null,
    Math.trunc(head.changedMs),
    head.changedBy ?? null,
    head.recordedMs,
    version,
  ]
  const id = known?.id ?? (await insertEntry(queries, values))
  if (known !== undefined) {
    const columns = ENTRY_COLUMNS.map((name, index) => `${name} = $${index + 2}`).join(', ')
    await run(queries, `update registry_entries set ${columns} where id = $1 and kind = $2`, [id, ...values])
  }
  await addVersion(queries, { ...head, id, version }, origin)
  return { ...head, id, version }
}

async function insertEntry(queries: Queries, values: readonly unknown[]): Promise<number> {
  const places = values.map((_, index) => `$${index + 1}`).join(', ')
  const row = await first<{ id: number }>(
    queries,
    `insert into registry_entries (${ENTRY_COLUMNS.join(', ')}) values (${places}) returning id`,
    values,
  )
  return row?.id ?? 0
}

async function addVersion(
  queries: Queries,
  { id, version, changedMs, changedBy, recordedMs }: RegistryEntry,
  { source, seq, definition }: VersionOrigin,
): Promise<void> {
  const bytes = definition === undefined ? undefined : Buffer.from(definition)
  await run(
    queries,
    `insert into registry_versions (entry_id, version, changed_ms, changed_by, recorded_ms, source, seq, definition_bytes, definition)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      id,
      version,
      Math.trunc(changedMs),
      changedBy ?? null,
      recordedMs,
      source,
      seq ?? null,
      bytes?.length ?? null,
      bytes === undefined ? null : packBody(bytes),
    ],
  )
}
