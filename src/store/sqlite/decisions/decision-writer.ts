import type { Database, Statement } from 'better-sqlite3'
import { batchRow } from '../../../decisions/decision-batch.js'
import type { BatchRow, DecisionBatch } from '../../../decisions/decision-batch.js'
import { DecisionReporter } from '../../../decisions/decision-reporter.js'
import type { ReportOptions } from '../../../decisions/decision-reporter.js'
import { findExecutionId } from '../../../decisions/find-execution-id.js'
import type { HideSecrets } from '../../../decisions/hide-secrets.js'
import { makeInputKeeper } from '../../../decisions/mask-input.js'
import type { InputKeeper, KeptInput } from '../../../decisions/mask-input.js'
import { makeRedactDecision } from '../../../decisions/redact-decision.js'
import type { RedactDecision } from '../../../decisions/redact-decision.js'
import type { DecisionWriteStore, StoreSize, WriteReceipt } from '../../ports/decision-store.js'
import { decisionDatabaseOptions } from './decision-database.js'
import { keptDatabase, requireKept } from '../engine/kept-files.js'
import type { KeptFile } from '../engine/kept-files.js'
import { openDatabase } from '../engine/open-database.js'
import { toStoreError } from '../engine/sqlite-error.js'

/** Where decisions are written, and what is kept of their inputs. */
export interface DecisionWriterOptions {
  readonly path: string
  /** JSON pointers (RFC 6901) whose token `*` matches every member or element. */
  readonly masks: readonly string[]
  readonly maxInputBytes: number
  /** Whether secrets are replaced in all that is kept; true where absent. */
  readonly redact?: boolean
  /** Absent where no decision is reported. */
  readonly reports?: ReportOptions | undefined
}

const COLUMNS = [
  ...[
    'decision_id',
    'time_ms',
    'kind',
    'path',
    'revision',
    'outcome',
    'application',
    'caller',
    'duration_ns',
  ],
  ...['request_id', 'error', 'input_bytes', 'input_truncated', 'result_truncated', 'result', 'input'],
  'execution_id',
] as const

const NO_INPUT: KeptInput = { bytes: null, truncated: false, maskFailed: false, hide: undefined }

/** Opens a file whose schema is up to date for writing; raises AppError `unavailable` when that cannot be. */
export function connectDecisionWriter(options: DecisionWriterOptions): SqliteDecisionWriter {
  const keepInput = makeInputKeeper(options.masks, options.maxInputBytes)
  const database = openDatabase(decisionDatabaseOptions(options.path))
  try {
    return new SqliteDecisionWriter(database, keepInput, options)
  } catch (raw) {
    database.close()
    throw toStoreError('open decision log', raw)
  }
}

/** Writes decisions over one connection with statements prepared once. */
export class SqliteDecisionWriter implements DecisionWriteStore {
  readonly #database: Database
  readonly #files: readonly KeptFile[]
  readonly #keepInput: InputKeeper
  readonly #redact: RedactDecision
  readonly #reporter: DecisionReporter | undefined
  readonly #insertRow: Statement
  readonly #deleteBefore: Statement
  readonly #deleteOldest: Statement
  readonly #countRows: Statement

  /** Writes as long as the files of the database are at their paths. */
  constructor(
    database: Database,
    keepInput: InputKeeper,
    {
      reports,
      redact = true,
      maxInputBytes,
    }: Pick<DecisionWriterOptions, 'reports' | 'redact' | 'maxInputBytes'>,
  ) {
    this.#database = database
    this.#redact = redact ? makeRedactDecision(maxInputBytes) : (kept) => kept
    this.#files = keptDatabase(database.name)
    this.#keepInput = keepInput
    this.#reporter = reports && new DecisionReporter(reports)
    this.#insertRow = database.prepare(
      `insert into decisions (${COLUMNS.join(', ')}) values (${COLUMNS.map(() => '?').join(', ')})`,
    )
    this.#deleteBefore = database.prepare(
      'delete from decisions where seq in (select seq from decisions where time_ms < ? order by time_ms limit ?)',
    )
    this.#deleteOldest = database.prepare(
      'delete from decisions where seq in (select seq from decisions order by seq limit ?)',
    )
    // Rows go from one end and come at the other, so the span of their numbers is their count, without a scan.
    this.#countRows = database
      .prepare(
        'select coalesce(max(seq) + 1, 0) - coalesce((select min(seq) from decisions), 0) from decisions',
      )
      .pluck()
  }

  insert(batch: DecisionBatch): WriteReceipt {
    return this.#attempt('write decisions', () => {
      requireKept(this.#files)
      return this.#database.transaction(() => this.#insertAll(batch))()
    })
  }

  deleteBefore(timeMs: number, limit: number): number {
    return this.#attempt('delete old decisions', () => this.#deleteBefore.run(timeMs, limit).changes)
  }

  deleteOldest(limit: number): number {
    return this.#attempt('delete oldest decisions', () => this.#deleteOldest.run(limit).changes)
  }

  releaseFreeSpace(maxBytes: number): void {
    this.#attempt('shrink decision log', () => {
      const pages = Math.ceil(maxBytes / this.#readPragma('page_size'))
      this.#database.pragma(`incremental_vacuum(${pages})`)
      // The file itself is cut when the write-ahead log is copied into it.
      this.#database.pragma('wal_checkpoint(passive)')
    })
  }

  size(): StoreSize {
    return this.#attempt('measure decision log', () => {
      const pageSize = this.#readPragma('page_size')
      const pages = this.#readPragma('page_count')
      const liveBytes = (pages - this.#readPragma('freelist_count')) * pageSize
      return { fileBytes: pages * pageSize, liveBytes, rows: Number(this.#countRows.get()) }
    })
  }

  close(): void {
    this.#attempt('close decision log', () => {
      this.#database.close()
    })
  }

  #insertAll(batch: DecisionBatch): WriteReceipt {
    // What a batch left that was undone.
    this.#reporter?.take()
    let maskFailed = 0
    for (let index = 0; index < batch.rowCount; index += 1) {
      const whole = batchRow(batch, index)
      const masked = whole.input === null ? NO_INPUT : this.#keepInput(whole.input, whole.inputBytes ?? 0)
      const named = { ...whole, executionId: executionIdOf(whole) }
      const { row, input } = this.#redact({
        row: masked.hide === undefined ? named : withoutSecrets(named, masked.hide),
        input: masked,
        isResultCut: isResultCut(whole),
      })
      if (input.maskFailed) maskFailed += 1
      this.#insertRow.run(
        row.decisionId,
        row.timeMs,
        row.kind,
        row.path,
        row.revision,
        row.outcome,
        row.application,
        row.caller,
        row.durationNs,
        row.requestId,
        row.error,
        row.inputBytes,
        Number(input.truncated),
        Number(isResultCut(whole)),
        row.result,
        input.bytes,
        row.executionId,
      )
      this.#reporter?.offer(row, isResultCut(whole))
    }
    return { maskFailed, report: this.#reporter?.take() }
  }

  #readPragma(name: string): number {
    return Number(this.#database.pragma(name, { simple: true }))
  }

  #attempt<T>(action: string, work: () => T): T {
    try {
      return work()
    } catch (raw) {
      throw toStoreError(action, raw)
    }
  }
}

/** The texts of a decision that may quote its input. */
function withoutSecrets(row: BatchRow, hide: HideSecrets): BatchRow {
  const { application, executionId, error, result } = row
  // Streaming: half a character at the end of what was cut is left out.
  const text = result === null ? null : new TextDecoder().decode(result, { stream: true })
  const shown = text === null ? null : hide(text, isResultCut(row))
  return {
    ...row,
    application: application === null ? null : hide(application, false),
    // Of an id, a part is of no use.
    executionId: executionId !== null && hide(executionId, false) === executionId ? executionId : null,
    error: error === null ? null : hide(error, false),
    result: shown === null ? null : Buffer.from(shown),
  }
}

/** In the batch where its input was cut, else in the input. */
function executionIdOf({ executionId, input, inputBytes }: BatchRow): string | null {
  const isWhole = input !== null && input.length === inputBytes
  return isWhole ? (findExecutionId(input) ?? null) : executionId
}

function isResultCut({ result, resultBytes }: BatchRow): boolean {
  return (resultBytes ?? 0) > (result?.length ?? 0)
}
