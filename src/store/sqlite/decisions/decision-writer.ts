import type { Database, Statement } from 'better-sqlite3'
import type { AddDecision, DecisionWriteStore, StoreSize } from '../../ports/decision-store.js'
import { keptDatabase, requireKept } from '../engine/kept-files.js'
import type { KeptFile } from '../engine/kept-files.js'
import { openDatabase } from '../engine/open-database.js'
import { toStoreError } from '../engine/sqlite-error.js'
import { decisionDatabaseOptions } from './decision-database.js'
import { InputPacker } from './input-packer.js'

const RELEASED_BYTES_PER_STEP = 16 * 1024 * 1024

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
  'nd_builtin_cache',
  'packages',
  'input_extents',
  'trace_id',
] as const

/** Share of the file's largest size for groups of inputs that are only kept for their parts. */
const KNOWN_SHARE = 1 / 8
/** Groups are smaller: most text is deflated to a tenth. */
const GROUP_STORED_BYTES = 16 * 1024
/** Memory for known parts: some 4 KB for each group. */
const [MIN_GROUPS, MAX_GROUPS] = [8, 4096]

/**
 * Opens a migrated file for writing, which will have at most `maxBytes`. Decisions that one of the
 * receivers waits for lose their detail before they are deleted. Raises AppError `unavailable`.
 */
export function connectDecisionWriter(
  path: string,
  maxBytes: number,
  receivers: readonly string[] = [],
): SqliteDecisionWriter {
  const database = openDatabase(decisionDatabaseOptions(path))
  const groups = Math.floor((maxBytes * KNOWN_SHARE) / GROUP_STORED_BYTES)
  try {
    return new SqliteDecisionWriter(database, Math.min(MAX_GROUPS, Math.max(MIN_GROUPS, groups)), receivers)
  } catch (raw) {
    database.close()
    throw toStoreError('open decision log', raw)
  }
}

/** Writes decisions over one connection with prepared statements. */
export class SqliteDecisionWriter implements DecisionWriteStore {
  readonly #database: Database
  readonly #files: readonly KeptFile[]
  readonly #insertRow: Statement
  readonly #deleteBefore: Statement
  readonly #deleteOldest: Statement
  readonly #countRows: Statement
  readonly #lastSeq: Statement
  readonly #rewind: Statement
  readonly #firstSeq: Statement<[], number | null>
  readonly #inputs: InputPacker
  readonly #waiting: WaitingDetail
  #nextSeq = 0

  /**
   * Makes a writer that refuses writes if the files of the database are not at their paths. Parts
   * of inputs are found again in the latest `knownGroups` groups.
   */
  constructor(database: Database, knownGroups: number, receivers: readonly string[]) {
    this.#database = database
    this.#inputs = new InputPacker(database, knownGroups)
    this.#waiting = new WaitingDetail(database, this.#inputs, receivers)
    this.#firstSeq = database.prepare<[], number | null>('select min(seq) from decisions').pluck()
    this.#files = keptDatabase(database.name)
    this.#insertRow = database.prepare(
      `insert into decisions (${COLUMNS.join(', ')}) values (${COLUMNS.map(() => '?').join(', ')})`,
    )
    this.#deleteBefore = database.prepare(
      'delete from decisions where seq in (select seq from decisions where time_ms < ? order by time_ms limit ?)',
    )
    this.#deleteOldest = database.prepare(
      'delete from decisions where seq in (select seq from decisions order by seq limit ?)',
    )
    // Rows are added at one end and deleted at the other, so the range of numbers is the count,
    // without a scan.
    this.#countRows = database
      .prepare(
        'select coalesce(max(seq) + 1, 0) - coalesce((select min(seq) from decisions), 0) from decisions',
      )
      .pluck()
    this.#lastSeq = database.prepare('select coalesce(max(seq), 0) from decisions').pluck()
    // A free number is used again. The epoch shows the shipper that it is another decision.
    this.#rewind = database.prepare(
      `update shipping set epoch = epoch + 1, missing = missing + @before - max(@after, through_seq),
         through_seq = min(through_seq, @after)`,
    )
  }

  insert(addAll: (add: AddDecision) => void): void {
    this.#attempt('write decisions', () => {
      requireKept(this.#files)
      // Immediate, because SQLite refuses to write what follows a read that a shipper's write made old.
      try {
        this.#database
          .transaction(() => {
            this.#nextSeq = Number(this.#lastSeq.get()) + 1
            addAll(this.#add)
            this.#inputs.flush()
          })
          .immediate()
      } catch (raw) {
        this.#inputs.reset()
        throw raw
      }
    })
  }

  deleteBefore(timeMs: number, limit: number): number {
    return this.#attempt('delete old decisions', () => this.#delete(this.#deleteBefore, timeMs, limit))
  }

  deleteOldest(limit: number): number {
    return this.#attempt('delete oldest decisions', () => {
      const removed = this.#waiting.removeDetail(limit)
      return removed > 0 ? removed : this.#delete(this.#deleteOldest, limit)
    })
  }

  takeDetailRemoved(): number {
    return this.#waiting.takeCount()
  }

  releaseSpace(maxBytes: number): void {
    this.#attempt('shrink decision log', () => {
      const { pageBytes, fileBytes, bytes } = this.#readFileSize()
      // A file that is more than half empty is shrunk even if it is within the limit.
      const excess = Math.max(fileBytes - maxBytes, fileBytes / 2 - bytes)
      if (excess <= 0) return
      const pages = Math.ceil(Math.min(excess, RELEASED_BYTES_PER_STEP) / pageBytes)
      this.#database.pragma(`incremental_vacuum(${pages})`)
      // The file shrinks when the write-ahead log is copied into it.
      this.#database.pragma('wal_checkpoint(passive)')
    })
  }

  size(): StoreSize {
    return this.#attempt('measure decision log', () => ({
      bytes: this.#readFileSize().bytes,
      rows: Number(this.#countRows.get()),
    }))
  }

  close(): void {
    this.#attempt('close decision log', () => {
      this.#database.close()
    })
  }

  readonly #add: AddDecision = (decision) => {
    const extents = decision.input && this.#inputs.pack(decision.input, this.#nextSeq)
    this.#nextSeq += 1
    this.#insertRow.run(
      decision.decisionId,
      decision.timeMs,
      decision.kind,
      decision.path,
      decision.revision,
      decision.outcome,
      decision.application,
      decision.caller,
      decision.durationNs,
      decision.requestId,
      decision.error,
      decision.inputBytes,
      Number(decision.inputTruncated),
      Number(decision.resultTruncated),
      decision.result,
      extents ? null : decision.input,
      decision.executionId,
      decision.ndBuiltinCache,
      decision.packages,
      extents ?? null,
      decision.traceId,
    )
  }

  #delete(statement: Statement, ...bounds: readonly number[]): number {
    return this.#database
      .transaction(() => {
        const before = Number(this.#lastSeq.get())
        const { changes } = statement.run(...bounds)
        const after = changes === 0 ? before : Number(this.#lastSeq.get())
        if (after < before) {
          this.#rewind.run({ before, after })
          this.#waiting.restart()
        }
        if (changes > 0) this.#inputs.removeBefore(this.#firstSeq.get() ?? null)
        return changes
      })
      .immediate()
  }

  /** Size of the file without its write-ahead log, and of its used pages. */
  #readFileSize(): { readonly pageBytes: number; readonly fileBytes: number; readonly bytes: number } {
    const pageBytes = this.#readPragma('page_size')
    const pages = this.#readPragma('page_count')
    return {
      pageBytes,
      fileBytes: pages * pageBytes,
      bytes: (pages - this.#readPragma('freelist_count')) * pageBytes,
    }
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

/**
 * Removes the inputs, results and calls of built-ins of decisions that receivers wait for, the
 * oldest first, so that the decisions themselves stay longer in a full log.
 */
class WaitingDetail {
  readonly #database: Database
  readonly #inputs: Pick<InputPacker, 'removeBefore'>
  readonly #receivers: string
  readonly #isWaited: Statement<[string], number>
  readonly #page: Statement<[number, number], number>
  readonly #remove: Statement<[number, number]>
  /** Decisions up to this number have no detail. */
  #throughSeq = 0
  #count = 0

  /** `receivers` are names of `shipping`. Without any, nothing is removed. */
  constructor(database: Database, inputs: Pick<InputPacker, 'removeBefore'>, receivers: readonly string[]) {
    this.#database = database
    this.#inputs = inputs
    this.#receivers = JSON.stringify(receivers)
    // A decision that all receivers have is deleted as a whole.
    this.#isWaited = database
      .prepare<[string], number>(
        `select exists (select 1 from shipping where receiver in (select value from json_each(?))
           and through_seq < (select min(seq) from decisions))`,
      )
      .pluck()
    this.#page = database
      .prepare<[number, number], number>(
        'select max(seq) from (select seq from decisions where seq > ? order by seq limit ?)',
      )
      .pluck()
    this.#remove = database.prepare(
      `update decisions set input = null, input_extents = null, nd_builtin_cache = null, result = null,
         input_truncated = input_bytes is not null, result_truncated = result_truncated or result is not null
       where seq > ? and seq <= ?
         and (input is not null or input_extents is not null or nd_builtin_cache is not null or result is not null)`,
    )
  }

  /**
   * Removes the detail of the next decisions, `limit` at most. Returns the number of visited
   * decisions: 0 if the oldest is not waited for, or if none has detail.
   */
  removeDetail(limit: number): number {
    return this.#database
      .transaction(() => {
        if (this.#isWaited.get(this.#receivers) !== 1) return 0
        const through = this.#page.get(this.#throughSeq, limit) ?? 0
        if (through === 0) return 0
        this.#count += this.#remove.run(this.#throughSeq, through).changes
        this.#throughSeq = through
        this.#inputs.removeBefore(through + 1)
        return limit
      })
      .immediate()
  }

  /** Begins with the oldest decision again. Call it when numbers are given a second time. */
  restart(): void {
    this.#throughSeq = 0
  }

  /** Number of decisions that lost their detail since the last call. */
  takeCount(): number {
    const count = this.#count
    this.#count = 0
    return count
  }
}
