import type { RegistryEntry, RegistryVersion } from '../../store/ports/registry-store.js'

/** An application or pipeline in a list. */
export function toEntryView(entry: RegistryEntry): Record<string, unknown> {
  const { id, kind, application, name, pipelineId, version, changedBy, digest } = entry
  return {
    id,
    ...(kind === 'pipeline' ? { name, application, pipelineId } : { name }),
    version,
    changedAt: new Date(entry.changedMs).toISOString(),
    changedBy,
    recordedAt: new Date(entry.recordedMs).toISOString(),
    ...(digest === undefined && { deleted: true }),
  }
}

/** A version without its definition. */
export function toVersionView(version: RegistryVersion): Record<string, unknown> {
  const { version: number, changedBy, source, seq, definition } = version
  return {
    version: number,
    changedAt: new Date(version.changedMs).toISOString(),
    changedBy,
    recordedAt: new Date(version.recordedMs).toISOString(),
    source,
    auditSeq: seq,
    ...(definition === undefined && { deleted: true }),
  }
}
