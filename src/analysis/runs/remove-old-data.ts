import type { AnalysisReader } from '../../store/ports/analysis-store.js'
import type { WriteOperation, Writer } from '../../store/ports/transaction.js'

/** Each interval may have megabytes: other writes come in between. */
const INTERVALS_PER_STEP = 8

export interface RemoveOldDataOptions {
  readonly writer: Writer
  readonly analysis: Pick<AnalysisReader, 'expiredRun'>
  /** How long the data of a run stay after its end, in milliseconds. */
  readonly maxAgeMs: number
  readonly now: () => number
  /** The time by which data are old. */
  readonly removalTime: () => number
  /** Stops between two steps. */
  readonly signal: AbortSignal
}

/**
 * Removes the data and reports of old runs, oldest first. Verdicts stay. Returns the number of
 * runs.
 */
export async function removeOldData(options: RemoveOldDataOptions): Promise<number> {
  const { analysis, writer, maxAgeMs, now, removalTime, signal } = options
  let removed = 0
  for (;;) {
    const id = signal.aborted ? undefined : await analysis.expiredRun(removalTime() - maxAgeMs)
    if (id === undefined) return removed
    if (await writer.run(removeRunData, { id, nowMs: now(), limit: INTERVALS_PER_STEP })) removed += 1
  }
}

export interface RunDataRemoval {
  readonly id: number
  readonly nowMs: number
  /** Maximum number of intervals. */
  readonly limit: number
}

/**
 * Removes some of the intervals of a run that has ended, first ones first. Returns whether none are
 * left.
 */
export const removeRunData: WriteOperation<RunDataRemoval, boolean> = {
  name: 'analysis.remove-data',
  isBackground: true,
  apply: async ({ analysis, audit }, { id, nowMs, limit }) => {
    const run = await analysis.findRun(id)
    if (run === undefined || run.state === 'RUNNING') return false
    if ((await analysis.deleteIntervals(id, limit)) === limit) return false
    await analysis.markDataRemoved(id, nowMs)
    await audit.append({
      ...{ timeMs: nowMs, source: 'analysis', kind: 'analysis.data-removed', application: run.application },
      executionId: run.executionId,
      body: Buffer.from(JSON.stringify({ run: id })),
    })
    return true
  },
}
