import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { shipBatch } from '../../src/decisions/ship-decisions.js'
import { openDecisionReceiver } from '../../src/store/postgres/decisions/decision-receiver.js'
import { serviceSchema } from '../../src/store/postgres/migrations/service.js'
import { migrate } from '../../src/store/postgres/engine/migrate.js'
import type { PostgresSettings } from '../../src/store/postgres/engine/postgres-settings.js'
import { prepareDecisionDatabase } from '../../src/store/sqlite/decisions/decision-files.js'
import { connectDecisionWriter } from '../../src/store/sqlite/decisions/decision-writer.js'
import { openShippedLog } from '../../src/store/sqlite/decisions/shipped-log.js'

const INPUT = Buffer.from(JSON.stringify({ pipeline: { application: 'shop', filler: 'x'.repeat(2000) } }))
const RESULT = Buffer.from('["the change window is closed"]')
const AT_ONCE = 1000

/** How many decisions of 2 KB a second are shipped from a local log to a database. Raises when one is missing there. */
export async function shippingRate(
  settings: PostgresSettings,
  directory: string,
  decisions: number,
): Promise<number> {
  const path = join(directory, 'decisions.db')
  await migrate(settings, serviceSchema)
  await fillLog(path, decisions)
  const log = openShippedLog(path)
  const receiver = openDecisionReceiver(settings, 'bench', serviceSchema)
  try {
    const startedAt = performance.now()
    let shipped = 0
    for (let kept: number | undefined = 0; kept !== undefined;) {
      kept = await shipBatch({ log, receiver })
      shipped += kept ?? 0
    }
    if (shipped !== decisions) throw new Error(`${shipped} of ${decisions} decisions were shipped`)
    return (decisions / (performance.now() - startedAt)) * 1000
  } finally {
    log.close()
    await receiver.close()
  }
}

async function fillLog(path: string, decisions: number): Promise<void> {
  await prepareDecisionDatabase(path)
  const writer = connectDecisionWriter(path)
  for (let from = 0; from < decisions; from += AT_ONCE) {
    writer.insert((add) => {
      for (let index = from; index < Math.min(from + AT_ONCE, decisions); index += 1) {
        add({
          decisionId: randomUUID(),
          timeMs: Date.now() - decisions + index,
          kind: 'static',
          path: 'staticPolicy/eval',
          revision: 'sha256:bench',
          outcome: index % 5 === 0 ? 'deny' : 'allow',
          application: `app-${index % 100}`,
          executionId: `run-${index % 1000}`,
          caller: 'orca',
          durationNs: 1_000_000,
          requestId: null,
          error: null,
          input: INPUT,
          inputBytes: INPUT.length,
          inputTruncated: false,
          result: RESULT,
          ndBuiltinCache: null,
          packages: null,
          resultTruncated: false,
        })
      }
    })
  }
  writer.close()
}
