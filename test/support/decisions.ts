import { makeShapeDecision } from '../../src/decisions/shipping/shape-event.js'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { onTestFinished } from 'vitest'

import type { DecisionBatch } from '../../src/decisions/decision-batch.js'
import { DecisionBatchBuilder } from '../../src/decisions/decision-batch.js'
import type { DecisionEntry } from '../../src/decisions/decision-log.js'
import { openDecisionReader } from '../../src/store/sqlite/decisions/decision-reader.js'
import { InProcessBatchWriter } from '../../src/decisions/in-process-batch-writer.js'
import { keepDecisions } from '../../src/decisions/keep-decisions.js'
import type { KeepOptions } from '../../src/decisions/keep-decisions.js'
import type { WriterThreadOptions } from '../../src/decisions/writer-messages.js'
import { connectDecisionWriter } from '../../src/store/sqlite/decisions/decision-writer.js'
import { prepareDecisionDatabase } from '../../src/store/sqlite/decisions/decision-files.js'

/** A folder that is removed when the test ends. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tidegate-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A decision with every field that the test does not care about filled in. */
export function anEntry(overrides: Partial<DecisionEntry> = {}): DecisionEntry {
  return {
    decisionId: 'd-1',
    timeMs: 1_700_000_000_000,
    kind: 'data',
    path: 'deploy/allow',
    revision: 'r1',
    outcome: 'allow',
    durationNs: 1500,
    ...overrides,
  }
}

export function aBatch(entries: readonly DecisionEntry[]): DecisionBatch {
  const bounds = { inputBytes: 1 << 20, resultBytes: 1 << 20 }
  const builder = new DecisionBatchBuilder(entries.length, new Uint8Array(1 << 20))
  for (const entry of entries) builder.append(entry, bounds)
  return builder.build()
}

/** A new store in a temporary folder, with both of its sides open. */
export async function openStore(
  overrides: Partial<KeepOptions & Pick<WriterThreadOptions, 'path' | 'receivers'>> = {},
) {
  const path = overrides.path ?? join(temporaryFolder(), 'decisions.db')
  await prepareDecisionDatabase(path)
  const writer = keepDecisions(connectDecisionWriter(path, 512 * 1024 * 1024, overrides.receivers), {
    masks: [],
    maxInputBytes: 8192,
    ...overrides,
  })
  const reader = openDecisionReader(path)
  onTestFinished(async () => {
    await reader.close()
    writer.close()
  })
  return { path, writer, reader }
}

/** Size of the file of a store, including free pages, without its write-ahead log. */
export function databaseBytes(path: string): number {
  const database = new Database(path, { readonly: true })
  const pragma = (name: string): number => Number(database.pragma(name, { simple: true }))
  try {
    return pragma('page_count') * pragma('page_size')
  } finally {
    database.close()
  }
}

/** Writes on the calling thread, as the service does on one of its own. */
export function openWriter(options: WriterThreadOptions): Promise<InProcessBatchWriter> {
  const store = keepDecisions(
    connectDecisionWriter(options.path, 512 * 1024 * 1024, options.receivers),
    options,
  )
  return Promise.resolve(new InProcessBatchWriter({ ...options, store, removalTime: Date.now }))
}

/** Turns decisions into events as without policies about the log. */
export const unshaped = makeShapeDecision({ id: 'node-1' }, () => undefined, { dropped: 0, maskFailed: 0 })
