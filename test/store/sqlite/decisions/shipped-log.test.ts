import Database from 'better-sqlite3'
import { describe, expect, it, onTestFinished } from 'vitest'
import { shipBatch } from '../../../../src/decisions/shipping/ship-continually.js'
import { AppError } from '../../../../src/errors/app-error.js'
import type { StoredDecision } from '../../../../src/store/ports/decision-store.js'
import { connectDecisionWriter } from '../../../../src/store/sqlite/decisions/decision-writer.js'
import { openShippedLog } from '../../../../src/store/sqlite/decisions/shipped-log.js'
import { aBatch, anEntry, openStore } from '../../../support/decisions.js'

const BOUNDS = { rows: 3, bytes: 1 << 20 }

/** A local log with its writer, and a place that decisions are shipped to. */
async function openBoth() {
  const { path, writer } = await openStore()
  const log = openShippedLog(path)
  onTestFinished(() => log.close())
  const kept: string[] = []
  const refused = new Set<string>()
  let isAway = false
  const receiver = {
    keep: (decisions: readonly StoredDecision[]) => {
      if (isAway) return Promise.reject(new AppError('unavailable', 'away'))
      if (decisions.some(({ decisionId }) => refused.has(decisionId)))
        return Promise.reject(new AppError('internal', 'never'))
      kept.push(...decisions.map(({ decisionId }) => decisionId))
      return Promise.resolve()
    },
    close: () => Promise.resolve(),
  }
  const decide = (...times: readonly number[]): void => {
    writer.insert(aBatch(times.map((timeMs) => anEntry({ decisionId: `d${timeMs}`, timeMs }))))
  }
  const shipAll = async (): Promise<void> => {
    while ((await shipBatch({ log, receiver, bounds: BOUNDS })) !== undefined);
  }
  const setAway = (value: boolean): void => {
    isAway = value
  }
  return { writer, log, receiver, kept, refused, decide, shipAll, setAway }
}

describe('shipping the decision log', () => {
  it('takes each decision over once, in their order, and continues where it was', async () => {
    const { log, kept, decide, shipAll } = await openBoth()
    decide(1, 2, 3, 4, 5)
    await shipAll()
    decide(6)
    await shipAll()
    expect(kept).toEqual(['d1', 'd2', 'd3', 'd4', 'd5', 'd6'])
    expect(log.state()).toEqual({ waiting: 0, missing: 0 })
  })

  it('writes nothing between the read and the write of new decisions, which SQLite would refuse then', async () => {
    const { path } = await openStore()
    const store = connectDecisionWriter(path, 1 << 20)
    const shipper = new Database(path, { timeout: 0 })
    onTestFinished(() => {
      shipper.close()
      store.close()
    })
    let problem: unknown
    store.insert(() => {
      try {
        shipper.exec('update shipping set missing = 0')
      } catch (raw) {
        problem = raw
      }
    })
    expect(problem).toMatchObject({ code: 'SQLITE_BUSY' })
  })

  it('keeps its place while the other side is away, and counts what waits', async () => {
    const { log, kept, decide, shipAll, setAway } = await openBoth()
    decide(1, 2)
    setAway(true)
    await expect(shipAll()).rejects.toThrow('away')
    decide(3)
    expect(log.state()).toEqual({ waiting: 3, missing: 0 })
    setAway(false)
    await shipAll()
    expect(kept).toEqual(['d1', 'd2', 'd3'])
  })

  it('counts what the bounds of the file took before it could be shipped', async () => {
    const { writer, log, kept, decide, shipAll } = await openBoth()
    decide(1, 2, 3, 4)
    await shipAll()
    decide(5, 6, 7)
    writer.deleteOldest(6)
    await shipAll()
    expect(kept).toEqual(['d1', 'd2', 'd3', 'd4', 'd7'])
    expect(log.state()).toEqual({ waiting: 0, missing: 2 })
  })

  it('takes no decision for an earlier one whose number it was given again', async () => {
    const { writer, log, kept, decide, shipAll } = await openBoth()
    decide(1, 2)
    await shipAll()
    decide(3)
    writer.deleteBefore(100, 10)
    decide(11, 12, 13)
    await shipAll()
    expect(kept).toEqual(['d1', 'd2', 'd11', 'd12', 'd13'])
    expect(log.state()).toEqual({ waiting: 0, missing: 1 })
  })

  it('takes none for an earlier one when the newest alone was deleted', async () => {
    const { writer, kept, decide, shipAll } = await openBoth()
    decide(50, 1)
    await shipAll()
    writer.deleteBefore(10, 10)
    decide(60)
    await shipAll()
    expect(kept).toEqual(['d50', 'd1', 'd60'])
  })

  it('does not move on over numbers that were given again while decisions were under way', async () => {
    const { writer, log, kept, decide, shipAll } = await openBoth()
    decide(1, 2)
    const under = log.next(BOUNDS)
    writer.deleteBefore(100, 10)
    decide(11, 12)
    if (under !== undefined) log.noteShipped(under.place, 2)
    await shipAll()
    expect(kept).toEqual(['d11', 'd12'])
  })

  it('leaves out and counts what the other side will never take', async () => {
    const { log, kept, refused, decide, shipAll } = await openBoth()
    decide(1, 2, 3, 4, 5)
    refused.add('d2')
    await shipAll()
    expect(kept).toEqual(['d1', 'd3', 'd4', 'd5'])
    expect(log.state()).toEqual({ waiting: 0, missing: 1 })
  })

  it('takes no more bytes at a time than it may, and one decision at least', async () => {
    const { log, decide } = await openBoth()
    decide(1, 2)
    expect(log.next({ rows: 10, bytes: 0 })?.decisions).toHaveLength(2)
    const { path, writer } = await openStore()
    const input = Buffer.from(JSON.stringify('x'.repeat(1000)))
    writer.insert(aBatch([1, 2, 3].map((timeMs) => anEntry({ decisionId: `d${timeMs}`, timeMs, input }))))
    const large = openShippedLog(path)
    onTestFinished(() => large.close())
    expect(large.next({ rows: 10, bytes: 2500 })?.decisions).toHaveLength(2)
    expect(large.next({ rows: 10, bytes: 1 })?.decisions).toHaveLength(1)
  })
})
