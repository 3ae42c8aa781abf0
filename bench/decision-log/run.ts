import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'

import { BufferedDecisionLog } from '../../src/decisions/buffered-decision-log.js'
import { DecisionBatchBuilder } from '../../src/decisions/decision-batch.js'
import type { DecisionBatch } from '../../src/decisions/decision-batch.js'
import type { DecisionEntry } from '../../src/decisions/decision-log.js'
import { InProcessBatchWriter } from '../../src/decisions/in-process-batch-writer.js'
import { keepDecisions } from '../../src/decisions/keep-decisions.js'
import { defaultRetention } from '../../src/decisions/retention.js'
import { threadCpuMs } from '../../src/lib/threads/thread-cpu-time.js'
import { makeTimeOrderedIds } from '../../src/lib/time-ordered-id.js'
import { openDecisionWriter } from '../../src/main/threads/decision-writer-thread.js'
import { prepareDecisionDatabase } from '../../src/store/sqlite/decisions/decision-files.js'
import { connectDecisionWriter } from '../../src/store/sqlite/decisions/decision-writer.js'
import { generatePipeline } from '../../test/support/generate-pipeline.js'

const { values: flags } = parseArgs({
  options: {
    /** Of the pipeline that is decided about: 20 stages are 5.6 KB. */
    stages: { type: 'string', default: '20' },
    rows: { type: 'string', default: '100000' },
    /** Decisions a second that the log is given, one rate after the other, and for how long. */
    rates: { type: 'string', default: '5000,10000,15000' },
    seconds: { type: 'string', default: '6' },
  },
})
const MIB = 1024 * 1024
const BATCH_ROWS = 1024
const KEEPING = { masks: [], maxInputBytes: 8192 }
const BOUNDS = { inputBytes: 8192, resultBytes: 4096 }
const RETENTION_INTERVAL_MS = 10_000
/** A store that is not full within a measurement, and one that is from early on. */
const NEVER_FULL = { ...defaultRetention, maxBytes: 64 * 1024 * MIB }
const SOON_FULL = { ...defaultRetention, maxBytes: 64 * MIB }
const TICK_MS = 5

const input = Buffer.from(JSON.stringify({ new: generatePipeline(Number(flags.stages)) }))
const result = Buffer.from('[]')
const rows = Number(flags.rows)
const temporary = mkdtempSync(join(tmpdir(), 'tidegate-decision-log-'))
const newId = makeTimeOrderedIds()

function entry(number: number): DecisionEntry {
  const timeMs = Date.now()
  return {
    ...{
      decisionId: newId(timeMs),
      timeMs,
      kind: 'static',
      path: 'static',
      revision: 'sha256:0123456789abcdef',
    },
    ...{ outcome: number % 20 === 0 ? 'deny' : 'allow', application: 'app7', durationNs: 40_000 + number },
    ...{ input, result },
  }
}

/** Microseconds of a core for a row, of the calling thread alone. */
async function costOf(work: () => Promise<void> | void): Promise<number> {
  const before = threadCpuMs()
  await work()
  return ((threadCpuMs() - before) * 1000) / rows
}

function makeBatches(): DecisionBatch[] {
  const made: DecisionBatch[] = []
  for (let done = 0; done < rows;) {
    const builder = new DecisionBatchBuilder(BATCH_ROWS, Buffer.allocUnsafeSlow(MIB))
    for (; done < rows && builder.hasRoom(input.length + result.length); done += 1)
      builder.append(entry(done), BOUNDS)
    made.push(builder.build())
  }
  return made
}

async function decidingSide(): Promise<number> {
  const writer = {
    write: ({ bytes }: DecisionBatch) => Promise.resolve({ maskFailed: 0, spentMemory: bytes }),
    close: () => Promise.resolve(),
  }
  const log = new BufferedDecisionLog({ writer, masked: false })
  return await costOf(async () => {
    for (let number = 0; number < rows; number += 1) {
      log.record(entry(number))
      if (number % 100 === 0) await Promise.resolve()
    }
    await log.close()
  })
}

async function writingSide(name: string, redact: boolean, retention = NEVER_FULL): Promise<number> {
  const path = join(temporary, `${name}.db`)
  await prepareDecisionDatabase(path)
  const store = keepDecisions(connectDecisionWriter(path), { ...KEEPING, redact })
  const writer = new InProcessBatchWriter({
    ...{ store, retention, removalTime: Date.now, retentionIntervalMs: RETENTION_INTERVAL_MS },
  })
  const all = makeBatches()
  const cost = await costOf(async () => {
    for (const batch of all) await writer.write(batch)
  })
  await writer.close()
  return cost
}

/** Gives the log of a service so many decisions a second, through its thread; prints what became of them. */
async function offer(perSecond: number): Promise<string> {
  const path = join(temporary, `offered-${perSecond}.db`)
  await prepareDecisionDatabase(path)
  const writer = await openDecisionWriter({
    ...{ path, ...KEEPING, retention: defaultRetention, retentionIntervalMs: RETENTION_INTERVAL_MS },
  })
  const log = new BufferedDecisionLog({ writer, masked: false })
  const total = perSecond * Number(flags.seconds)
  const begun = performance.now()
  const cpuBefore = process.cpuUsage()
  let mostBuffered = 0
  for (let given = 0; given < total;) {
    const due = Math.min(total, Math.floor(((performance.now() - begun) * perSecond) / 1000))
    for (; given < due; given += 1) log.record(entry(given))
    mostBuffered = Math.max(mostBuffered, log.stats().bufferedBytes)
    await sleep(TICK_MS)
  }
  await log.flush()
  const { user, system } = process.cpuUsage(cpuBefore)
  const { written, dropped } = log.stats()
  await log.close()
  const cells = [
    perSecond,
    written,
    dropped.detail_gave_way,
    dropped.allow_gave_way + dropped.buffer_full + dropped.write_failed,
    (mostBuffered / MIB).toFixed(1),
    ((user + system) / total).toFixed(1),
  ]
  return `| ${cells.join(' | ')} |`
}

try {
  console.log(`${rows} decisions of ${input.length} bytes; microseconds of a core for each`)
  console.log(`deciding: ${(await decidingSide()).toFixed(1)}`)
  console.log(`writing, nothing redacted: ${(await writingSide('plain', false)).toFixed(1)}`)
  console.log(`writing: ${(await writingSide('redacted', true)).toFixed(1)}`)
  console.log(`writing, and as many deleted: ${(await writingSide('full', true, SOON_FULL)).toFixed(1)}`)
  console.log('| offered a second | kept | without detail | lost | most in memory, MB | CPU for each, us |')
  console.log('| ---------------- | ---- | -------------- | ---- | ------------------ | ---------------- |')
  for (const rate of flags.rates.split(',').map(Number)) console.log(await offer(rate))
} finally {
  rmSync(temporary, { recursive: true, force: true })
}
