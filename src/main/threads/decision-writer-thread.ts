import { Worker } from 'node:worker_threads'

import { WorkerBatchWriter } from '../../decisions/worker-batch-writer.js'
import type { DecisionBatchWriter } from '../../decisions/keep-decisions.js'
import type { WriterThreadOptions } from '../../decisions/writer-messages.js'
import type { ThreadDeath } from '../../lib/threads/supervised-thread.js'
import { threadScript } from '../../lib/package-root.js'

const SCRIPT = threadScript('decision-writer')
/** Batches live outside the heap: what the thread needs inside is little, and without a bound it would take more. */
const THREAD_LIMITS = { maxYoungGenerationSizeMb: 2, maxOldGenerationSizeMb: 64 }

/** Opens what writes the decision log; raises the AppError that it was refused with. */
export type OpenDecisionWriter = (
  options: WriterThreadOptions,
  died?: (death: ThreadDeath) => void,
) => Promise<DecisionBatchWriter>

/** Starts the writing thread and waits until its database is open; raises the AppError that it was refused with. */
export async function openDecisionWriter(
  options: WriterThreadOptions,
  died?: (death: ThreadDeath) => void,
): Promise<WorkerBatchWriter> {
  const start = (): Worker => new Worker(SCRIPT, { workerData: options, resourceLimits: THREAD_LIMITS })
  const writer = new WorkerBatchWriter({ name: 'the thread that writes decisions.db', start, died })
  await writer.opened()
  return writer
}
