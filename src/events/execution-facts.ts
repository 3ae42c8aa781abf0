import { asBuffer } from '../lib/bytes.js'
import { isRecord } from '../lib/validation/record.js'
import type { AuditReader } from '../store/ports/audit-store.js'
import type { ReadOperation } from '../store/ports/readers.js'
import { scalarText } from './carried-values.js'
import { readEvent } from './read-event.js'

/** An artifact that an execution was triggered with. */
export interface ExecutionArtifact {
  readonly name: string
  readonly version: string | undefined
  readonly type: string | undefined
}

/** What the events say an execution is about. */
export interface ExecutionFacts {
  readonly pipeline: string | undefined
  readonly triggerType: string | undefined
  readonly triggeredBy: string | undefined
  readonly artifacts: readonly ExecutionArtifact[]
  /** Committers that the build of the trigger names. */
  readonly committers: readonly string[]
  /** Parameters of the trigger as text. */
  readonly parameters: Readonly<Record<string, string>>
}

/** Events that are read. The first event of an execution usually has the whole trigger. */
const MAX_EVENTS = 5
const MAX_LISTED = 100

/** Returns what an execution is about, from its first events; undefined without a readable one. */
export const readExecutionFacts: ReadOperation<string, ExecutionFacts | undefined> = {
  name: 'events.execution-facts',
  apply: async ({ audit }, executionId) => {
    const filter = { executionId, source: 'event' }
    const records = await audit.page({ filter, order: 'oldest_first', limit: MAX_EVENTS })
    for (const { seq } of records) {
      const found = await factsOf(audit, seq)
      if (found !== undefined) return found
    }
    return undefined
  },
}

async function factsOf(audit: AuditReader, seq: number): Promise<ExecutionFacts | undefined> {
  const [body] = await audit.bodies([seq])
  const execution = body === undefined ? undefined : executionIn(body)
  if (execution === undefined) return undefined
  const trigger = recordOf(execution['trigger'])
  return {
    pipeline: scalarText(execution['name']),
    triggerType: scalarText(trigger['type']),
    triggeredBy: scalarText(recordOf(execution['authentication'])['user']) ?? scalarText(trigger['user']),
    artifacts: artifactsOf(trigger),
    committers: committersIn(listOf(recordOf(trigger['buildInfo'])['scm'])),
    parameters: parametersOf(trigger),
  }
}

/** An empty name is an unknown committer, also of changes that are left out. */
function committersIn(changes: readonly Readonly<Record<string, unknown>>[]): readonly string[] {
  const listed = changes.slice(0, MAX_LISTED).map(({ committer }) => scalarText(committer) ?? '')
  return changes.length > MAX_LISTED ? [...listed, ''] : listed
}

/** Undefined for an event that a later release cannot read. */
function executionIn(body: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  try {
    const { content } = readEvent(asBuffer(body), 'audit', 0)
    const execution = isRecord(content) ? content['execution'] : undefined
    return isRecord(execution) ? execution : undefined
  } catch {
    return undefined
  }
}

function artifactsOf(trigger: Readonly<Record<string, unknown>>): readonly ExecutionArtifact[] {
  const bound = listOf(trigger['resolvedExpectedArtifacts']).map(({ boundArtifact }) => boundArtifact)
  const all = [...listOf(trigger['artifacts']), ...bound.filter(isRecord)]
  const byName = new Map<string, ExecutionArtifact>()
  for (const artifact of all.slice(0, MAX_LISTED)) {
    const reference = scalarText(artifact['reference'])
    const name = scalarText(artifact['name']) ?? reference
    if (name === undefined) continue
    const version = scalarText(artifact['version']) ?? versionIn(reference)
    byName.set(name, { name, version, type: scalarText(artifact['type']) })
  }
  return [...byName.values()]
}

/** The tag or digest of an image reference: `registry/app:1.2` or `registry/app@sha256:…`. */
function versionIn(reference: string | undefined): string | undefined {
  return /(?:@|:)((?:sha256:)?[\w][\w.+-]*)$/.exec(reference ?? '')?.[1]
}

function parametersOf(trigger: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  const entries = Object.entries(recordOf(trigger['parameters'])).slice(0, MAX_LISTED)
  return Object.fromEntries(
    entries.map(([name, value]) => [name, scalarText(value) ?? JSON.stringify(value)]),
  )
}

function listOf(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? (value as unknown[]).filter(isRecord) : []
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {}
}

/** A difference between two executions of a pipeline. */
export interface FactChange {
  readonly name: string
  /** Undefined if it is new. */
  readonly before: string | undefined
  /** Undefined if it was removed. */
  readonly after: string | undefined
}

/** Returns the changed artifacts and parameters, artifacts first. */
export function changedFacts(before: ExecutionFacts, after: ExecutionFacts): readonly FactChange[] {
  const versions = ({ artifacts }: ExecutionFacts): Record<string, string> =>
    Object.fromEntries(artifacts.map(({ name, version = 'no version' }) => [name, version]))
  return [
    ...changes(versions(before), versions(after)),
    ...changes(before.parameters, after.parameters).map(({ name, ...change }) => ({
      name: `parameter ${name}`,
      ...change,
    })),
  ]
}

function changes(
  before: Readonly<Record<string, string>>,
  after: Readonly<Record<string, string>>,
): readonly FactChange[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  return names
    .map((name) => ({ name, before: before[name], after: after[name] }))
    .filter((change) => change.before !== change.after)
}
