import { AppError } from '../errors/app-error.js'
import { asBuffer } from '../lib/bytes.js'
import type { AuditPosition } from '../store/ports/audit-store.js'
import type { Reader, ReadOperation } from '../store/ports/readers.js'
import { readPipelineRun } from './pipeline-run.js'
import type { PipelineRun } from './pipeline-run.js'
import { readEvent } from './read-event.js'

/** Filter of finished runs in the trail. */
export interface RunsQuery {
  readonly application?: string | undefined
  readonly fromMs: number
  readonly toMs: number
}

interface RunsChunk {
  readonly runs: readonly PipelineRun[]
  readonly next: AuditPosition | undefined
}

const KINDS = ['orca:pipeline:complete', 'orca:pipeline:failed'] as const
const RECORDS_PER_CHUNK = 200
const MAX_RUNS = 200_000

/** Reads some of the runs that ended in a window. */
export const readRunsChunk: ReadOperation<
  RunsQuery & { readonly kind: string; readonly after: AuditPosition | undefined },
  RunsChunk
> = {
  name: 'insights.runs',
  apply: async ({ audit }, { kind, after, ...filter }) => {
    const query = { filter: { ...filter, kind }, limit: RECORDS_PER_CHUNK, after }
    const records = await audit.page({ ...query, order: 'oldest_first' })
    const bodies = await audit.bodies(records.map(({ seq }) => seq))
    const last = records.length < RECORDS_PER_CHUNK ? undefined : records.at(-1)
    return {
      runs: bodies.map(toRun).filter((run) => run !== undefined),
      next: last === undefined ? undefined : { timeMs: last.timeMs, seq: last.seq },
    }
  },
}

/** Returns all runs that ended in a window. Raises `invalid` if there are too many. */
export async function readRuns(reader: Reader, query: RunsQuery): Promise<PipelineRun[]> {
  const runs: PipelineRun[] = []
  for (const kind of KINDS) {
    let after: AuditPosition | undefined
    do {
      const chunk = await reader.run(readRunsChunk, { ...query, kind, after })
      runs.push(...chunk.runs)
      if (runs.length > MAX_RUNS) throw tooMany()
      after = chunk.next
    } while (after !== undefined)
  }
  return runs
}

function toRun(body: Uint8Array): PipelineRun | undefined {
  try {
    return readPipelineRun(readEvent(asBuffer(body), 'audit', 0))
  } catch {
    // Not an event of the orchestrator.
    return undefined
  }
}

function tooMany(): AppError {
  return new AppError('invalid', `more than ${MAX_RUNS} runs: choose a shorter window, or one application`)
}
