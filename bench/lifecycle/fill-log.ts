import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

import { DecisionBatchBuilder } from '../../src/decisions/decision-batch.js'
import type { DecisionEntry } from '../../src/decisions/decision-log.js'
import { keepDecisions } from '../../src/decisions/keep-decisions.js'
import { prepareDecisionDatabase } from '../../src/store/sqlite/decisions/decision-files.js'
import { connectDecisionWriter } from '../../src/store/sqlite/decisions/decision-writer.js'

const MAX_INPUT_BYTES = 16 * 1024 * 1024
const MAX_BYTES = 4 * 1024 * 1024 * 1024

/** What was written: decisions, the JSON of their inputs, the file, and the time. */
export interface Filled {
  readonly decisions: number
  readonly inputBytes: number
  readonly fileBytes: number
  readonly seconds: number
}

/** Writes decisions to a log as the service does, this many in a batch. */
export async function fillLog(
  path: string,
  entries: Iterable<DecisionEntry>,
  batchRows: number,
): Promise<Filled> {
  mkdirSync(dirname(path), { recursive: true })
  await prepareDecisionDatabase(path)
  const keeper = keepDecisions(connectDecisionWriter(path, MAX_BYTES), {
    ...{ masks: [], maxInputBytes: MAX_INPUT_BYTES },
  })
  const bounds = { inputBytes: MAX_INPUT_BYTES, resultBytes: 4096 }
  let [decisions, inputBytes, ms] = [0, 0, 0]
  let batch: DecisionEntry[] = []
  const write = (): void => {
    const bytes = batch.reduce((sum, { input }) => sum + (input?.length ?? 0) + 64, 0)
    const builder = new DecisionBatchBuilder(batch.length, new Uint8Array(bytes))
    for (const entry of batch) builder.append(entry, bounds)
    const startedAt = performance.now()
    keeper.insert(builder.build())
    ms += performance.now() - startedAt
    batch = []
  }
  for (const entry of entries) {
    batch.push(entry)
    decisions += 1
    inputBytes += entry.input?.length ?? 0
    if (batch.length === batchRows) write()
  }
  if (batch.length > 0) write()
  keeper.close()
  return { decisions, inputBytes, fileBytes: statSync(path).size, seconds: ms / 1000 }
}
