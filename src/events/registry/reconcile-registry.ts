import type { OrchestratorConnection } from '../../orchestrator/connection.js'
import { withDownloadedList } from '../../orchestrator/list-definitions.js'
import type { ListKind } from '../../orchestrator/read-list.js'
import type { Writer } from '../../store/ports/transaction.js'
import type { CompareList } from './compare-list.js'
import { applyChanges, recordInTrail } from './registry-operations.js'

export interface ReconcileDeps {
  readonly connection: OrchestratorConnection
  readonly compare: CompareList
  readonly writer: Writer
  /** Epoch milliseconds. */
  readonly now: () => number
}

/** Result of a reconciliation. */
export interface ReconcileOutcome {
  readonly applications: ListOutcome
  readonly pipelines: ListOutcome
}

interface ListOutcome {
  readonly listed: number
  readonly changed: number
}

/**
 * Brings the registry in line with the lists of the storage service: applications, then pipelines.
 * An incomplete list changes nothing of its kind, and one that lacks too many entries deletes
 * nothing. Raises `unavailable` then.
 */
export async function reconcileRegistry(
  deps: ReconcileDeps,
  signal?: AbortSignal,
): Promise<ReconcileOutcome> {
  const applications = await reconcileKind(deps, 'applications', signal)
  const pipelines = await reconcileKind(deps, 'pipelines', signal)
  const outcome = { applications, pipelines }
  if (applications.changed + pipelines.changed > 0) {
    await deps.writer.run(recordInTrail, {
      timeMs: deps.now(),
      source: 'registry',
      kind: 'registry.reconciled',
      body: Buffer.from(JSON.stringify(outcome)),
    })
  }
  return outcome
}

function reconcileKind(
  { connection, compare, writer, now }: ReconcileDeps,
  kind: ListKind,
  signal?: AbortSignal,
): Promise<ListOutcome> {
  const { maxMissingPercent } = connection.settings
  return withDownloadedList(
    connection,
    kind,
    async (list) => {
      let changed = 0
      const take = async (changes: string): Promise<void> => {
        changed += await writer.run(applyChanges, { changes, nowMs: now() })
      }
      const listed = await compare({ ...list, maxMissingPercent }, take, signal)
      return { listed, changed }
    },
    signal,
  )
}
