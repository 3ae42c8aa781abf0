import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { BufferedDecisionLog } from '../../src/decisions/buffered-decision-log.js'
import type { BufferBounds } from '../../src/decisions/buffered-decision-log.js'
import { batchRow } from '../../src/decisions/decision-batch.js'
import type { DecisionBatch } from '../../src/decisions/decision-batch.js'
import { nopDecisionLog } from '../../src/decisions/decision-log.js'
import type { GivesWay } from '../../src/decisions/decision-log.js'
import { findExecutionId } from '../../src/decisions/entry/find-execution-id.js'
import { AppError } from '../../src/errors/app-error.js'
import type { DecisionBatchWriter, WriteReceipt } from '../../src/decisions/keep-decisions.js'
import { anEntry } from '../support/decisions.js'
import { PATIENT } from '../support/wait-until.js'

/** Holds every batch until the test answers it. */
class HeldWriter implements DecisionBatchWriter {
  readonly batches: DecisionBatch[] = []
  readonly answers: { resolve: (receipt: WriteReceipt) => void; reject: (error: Error) => void }[] = []
  closed = false

  write(batch: DecisionBatch): Promise<WriteReceipt> {
    this.batches.push(batch)
    return new Promise((resolve, reject) => this.answers.push({ resolve, reject }))
  }

  close(): Promise<void> {
    this.closed = true
    return Promise.resolve()
  }

  ids(): string[][] {
    return this.batches.map((batch) =>
      Array.from({ length: batch.rowCount }, (_, index) => batchRow(batch, index).decisionId),
    )
  }
}

function open(bounds: Partial<BufferBounds> = {}, masked = false) {
  const writer = new HeldWriter()
  const onWriteError = vi.fn()
  const log = new BufferedDecisionLog({ writer, bounds, masked, onWriteError })
  const record = (...ids: string[]) => ids.forEach((decisionId) => log.record(anEntry({ decisionId })))
  return { writer, log, record, onWriteError }
}

const text = (bytes: Uint8Array | null) => (bytes === null ? null : Buffer.from(bytes).toString())

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

describe('a log whose writer lags', () => {
  const deny = (decisionId: string) =>
    anEntry({ decisionId, outcome: 'deny', input: Buffer.from('{"a":1}'), result: Buffer.from('false') })
  const allow = (decisionId: string) => ({ ...deny(decisionId), outcome: 'allow' as const })

  it('leaves out detail from half on, allows from three quarters on, and then everything', () => {
    const { log, writer } = open({ maxBufferedRows: 8, batchRows: 100 })
    for (const id of ['1', '2', '3', '4', '5', '6']) log.record(allow(id))
    log.record(allow('left out'))
    for (const id of ['7', '8', 'left out']) log.record(deny(id))
    void log.flush()
    const rows = Array.from({ length: 8 }, (_, index) => batchRow(writer.batches[0]!, index))
    expect(rows.map(({ decisionId }) => decisionId)).toEqual(['1', '2', '3', '4', '5', '6', '7', '8'])
    expect(rows.map(({ input }) => text(input) !== '')).toEqual([
      true,
      true,
      true,
      true,
      false,
      false,
      false,
      false,
    ])
    expect(rows.map(({ result }) => text(result))).toEqual([
      ...Array<string>(4).fill('false'),
      '',
      '',
      '',
      '',
    ])
    expect(rows.map(({ inputBytes }) => inputBytes)).toEqual(Array(8).fill(7))
    expect(log.stats().dropped).toMatchObject({ detail_gave_way: 4, allow_gave_way: 1, buffer_full: 1 })
  })

  it('counts bytes as it counts rows', () => {
    const { log } = open({ maxBufferedBytes: 2000, batchBytes: 4000 })
    for (let id = 0; id < 20; id += 1) log.record({ ...allow(String(id)), input: Buffer.alloc(400) })
    const { detail_gave_way, allow_gave_way, buffer_full } = log.stats().dropped
    expect([detail_gave_way > 0, allow_gave_way > 0, buffer_full]).toEqual([true, true, 0])
  })

  it.each<[GivesWay[], object]>([
    [[], { detail_gave_way: 0, allow_gave_way: 0, buffer_full: 4 }],
    [['detail'], { detail_gave_way: 2, allow_gave_way: 0, buffer_full: 4 }],
    [['allows'], { detail_gave_way: 0, allow_gave_way: 5, buffer_full: 0 }],
  ])('leaves out nothing but %j', (givesWay, dropped) => {
    const { log } = open({ maxBufferedRows: 4, givesWay })
    for (const id of ['1', '2', '3', '4', '5', '6', '7', '8']) log.record(allow(id))
    expect(log.stats().dropped).toMatchObject(dropped)
  })

  it('keeps which execution a decision is about without its input', () => {
    const { log, writer } = open({ maxBufferedRows: 2 })
    const input = Buffer.from('{"execution":{"id":"01ABC","type":"PIPELINE"}}')
    for (const id of ['1', '2']) log.record({ ...deny(id), input })
    void log.flush()
    const { executionId, input: kept } = batchRow(writer.batches[0]!, 1)
    expect([executionId, text(kept)]).toEqual([findExecutionId(input), ''])
    expect(executionId).toBe('01ABC')
  })
})

describe('the buffered decision log', () => {
  it('keeps every field of a decision', () => {
    const { log, writer } = open()
    const entry = anEntry({
      application: 'shop',
      caller: '10.0.0.1',
      requestId: 'q',
      traceId: 't',
      error: 'boom',
      input: Buffer.from('{"a":1}'),
      result: Buffer.from('true'),
      ndBuiltinCache: Buffer.from('{"rand.intn":{}}'),
      packages: Buffer.from('[{"package":"a","deny":["x"]}]'),
    })
    log.record(entry)
    void log.flush()
    const row = batchRow(writer.batches[0]!, 0)
    expect({
      ...row,
      input: text(row.input),
      result: text(row.result),
      ndBuiltinCache: text(row.ndBuiltinCache),
      packages: text(row.packages),
    }).toEqual({
      ...entry,
      ndBuiltinCache: '{"rand.intn":{}}',
      packages: '[{"package":"a","deny":["x"]}]',
      executionId: null,
      input: '{"a":1}',
      inputBytes: 7,
      result: 'true',
      resultBytes: 4,
    })
  })

  it('names the packages that deny where all that they say is more than is kept of a result', () => {
    const { log, writer } = open({ maxResultBytes: 200 })
    const packages = [{ package: 'a', deny: ['x'.repeat(300)] }]
    log.record(anEntry({ packages: Buffer.from(JSON.stringify(packages)) }))
    void log.flush()
    expect(text(batchRow(writer.batches[0]!, 0).packages)).toBe('[{"package":"a","deny":[],"denyLeftOut":1}]')
  })

  it('copies the input, so that the request may reuse its memory', () => {
    const { log, writer } = open()
    const input = Buffer.from('"secret"')
    log.record(anEntry({ input }))
    input.fill(0)
    void log.flush()
    expect(text(batchRow(writer.batches[0]!, 0).input)).toBe('"secret"')
  })

  it('keeps the first bytes of a large input and result with their true sizes', () => {
    const { log, writer } = open({ maxInputBytes: 4, maxResultBytes: 2 })
    log.record(anEntry({ input: Buffer.from('123456'), result: Buffer.from('789') }))
    void log.flush()
    const row = batchRow(writer.batches[0]!, 0)
    expect([text(row.input), row.inputBytes, text(row.result), row.resultBytes]).toEqual(['1234', 6, '78', 3])
  })

  it('hands whole inputs to a writer that masks', () => {
    const { log, writer } = open({ maxInputBytes: 4 }, true)
    log.record(anEntry({ input: Buffer.from('123456') }))
    void log.flush()
    expect(text(batchRow(writer.batches[0]!, 0).input)).toBe('123456')
  })

  it('writes nothing until the interval has passed, then all of it at once', () => {
    const { writer, record } = open({ flushIntervalMs: 250 })
    record('a', 'b')
    vi.advanceTimersByTime(249)
    expect(writer.ids()).toEqual([])
    vi.advanceTimersByTime(1)
    expect(writer.ids()).toEqual([['a', 'b']])
  })

  it.each([
    { name: 'rows', bounds: { batchRows: 2 } },
    { name: 'bytes', bounds: { batchBytes: 4 } },
  ])('hands over a batch that is full in $name without waiting', ({ bounds }) => {
    const { writer, log } = open(bounds)
    for (const decisionId of ['a', 'b', 'c']) log.record(anEntry({ decisionId, input: Buffer.from('12') }))
    expect(writer.ids()).toEqual([['a', 'b']])
  })

  it('drops the newest decisions, counted, when the writer lags, and takes new ones when it has caught up', async () => {
    const { writer, log, record } = open({
      batchRows: 1,
      maxBufferedRows: 3,
      maxUnacknowledged: 1,
      givesWay: [],
    })
    record('a', 'b', 'c', 'd', 'e')
    expect(log.stats()).toMatchObject({ dropped: { buffer_full: 2 }, bufferedRows: 3 })
    const flushed = log.flush()
    for (let index = 0; index < 3; index += 1) {
      await vi.waitFor(() => writer.answers[index]!.resolve({ maskFailed: 0 }), PATIENT)
    }
    await flushed
    expect(writer.ids()).toEqual([['a'], ['b'], ['c']])
    record('f')
    expect(log.stats()).toMatchObject({ written: 3, dropped: { buffer_full: 2 }, bufferedRows: 1 })
  })

  it('tells of the decisions that belong into a report and are lost', async () => {
    const writer = new HeldWriter()
    const take = vi.fn()
    const reports = { reported: 'executions', take } as const
    const bounds = { batchRows: 1, maxBufferedRows: 1 }
    const log = new BufferedDecisionLog({ writer, bounds, masked: false, reports })
    log.record(anEntry())
    const input = Buffer.from('{"executionId":"01J"}')
    for (const lost of [anEntry(), anEntry({ input }), anEntry({ outcome: 'deny', application: 'shop' })]) {
      log.record(lost)
    }
    expect(take.mock.calls).toEqual([
      [{ decisions: [], omitted: { log_full: 1 } }],
      [{ decisions: [], omitted: { log_full: 1 } }],
    ])
    const flushed = log.flush()
    writer.answers[0]!.reject(new Error('no space left'))
    await flushed
    expect(take).toHaveBeenLastCalledWith({ decisions: [], omitted: { log_failed: 1 } })
  })

  it('hands on what the writer reports', async () => {
    const writer = new HeldWriter()
    const take = vi.fn()
    const log = new BufferedDecisionLog({ writer, masked: false, reports: { reported: 'denied', take } })
    log.record(anEntry())
    const flushed = log.flush()
    const report = { decisions: [], omitted: { over_rate: 3 } }
    writer.answers[0]!.resolve({ maskFailed: 0, report })
    await flushed
    expect(take.mock.calls).toEqual([[report]])
  })

  it('bounds the bytes that it holds', () => {
    const { log } = open({ maxBufferedBytes: 10_000, givesWay: [] })
    for (let index = 0; index < 100; index += 1) log.record(anEntry({ input: Buffer.alloc(1000) }))
    const { bufferedBytes, bufferedRows, dropped } = log.stats()
    expect(bufferedBytes).toBeLessThanOrEqual(11_200)
    expect(bufferedRows).toBeGreaterThan(5)
    expect(bufferedRows + dropped.buffer_full).toBe(100)
  })

  it('counts the decisions of a failed write, reports it and continues', async () => {
    const { writer, log, record, onWriteError } = open()
    record('a', 'b')
    const first = log.flush()
    writer.answers[0]!.reject(new AppError('unavailable', 'no space left'))
    await first
    record('c')
    const second = log.flush()
    writer.answers[1]!.resolve({ maskFailed: 0 })
    await second
    expect(log.stats()).toMatchObject({
      written: 1,
      dropped: { write_failed: 2 },
      bufferedRows: 0,
      bufferedBytes: 0,
    })
    expect(onWriteError).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ message: 'no space left' }),
    )
  })

  it('counts inputs that could not be masked', async () => {
    const { writer, log, record } = open()
    record('a')
    const flushed = log.flush()
    writer.answers[0]!.resolve({ maskFailed: 1 })
    await flushed
    expect(log.stats()).toMatchObject({ written: 1, dropped: { mask_failed: 1 } })
  })

  it('writes what it holds before it closes, and drops what comes later', async () => {
    const { writer, log, record } = open()
    record('a')
    const closing = log.close()
    expect(writer.closed).toBe(false)
    writer.answers[0]!.resolve({ maskFailed: 0 })
    await closing
    record('b')
    expect(writer.closed).toBe(true)
    expect(log.stats()).toMatchObject({ written: 1, dropped: { buffer_full: 1 }, bufferedRows: 0 })
  })
})

describe('the log of a service that keeps none', () => {
  it('takes decisions and counts nothing', async () => {
    nopDecisionLog.record(anEntry())
    await nopDecisionLog.flush()
    await nopDecisionLog.close()
    expect(nopDecisionLog.stats()).toMatchObject({ written: 0, bufferedRows: 0 })
  })
})
