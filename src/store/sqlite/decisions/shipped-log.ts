import type { Database, Statement } from 'better-sqlite3'
import { SHARED_LOG } from '../../ports/decision-shipping.js'
import type {
  ShippedLog,
  ShippingPlace,
  ShippingState,
  UnshippedDecisions,
} from '../../ports/decision-shipping.js'
import type { PageBounds, StoredDecision } from '../../ports/decision-store.js'
import { toStoredDecision } from '../../tables/decision-table.js'
import { keptDatabase, requireKept } from '../engine/kept-files.js'
import type { KeptFile } from '../engine/kept-files.js'
import { openDatabase } from '../engine/open-database.js'
import { toStoreError } from '../engine/sqlite-error.js'
import { InputReader } from './input-reader.js'
import type { PackedDecision } from './input-reader.js'
import { decisionDatabaseOptions } from './decision-database.js'
import type { ShippingTable } from './decision-database.js'

/**
 * Opens a migrated decision log next to its writer, for one receiver. A receiver without a position
 * begins with the oldest stored decision. Raises AppError `unavailable`.
 */
export function openShippedLog(path: string, receiver = SHARED_LOG): ShippedLog {
  const database = openDatabase(decisionDatabaseOptions(path))
  try {
    return new SqliteShippedLog(database, receiver)
  } catch (raw) {
    database.close()
    throw toStoreError('open decision log', raw)
  }
}

/** Numbers are consecutive, so a gap comes from retention. */
class SqliteShippedLog implements ShippedLog {
  readonly #database: Database
  readonly #files: readonly KeptFile[]
  readonly #receiver: string
  readonly #place: Statement<[string], ShippingTable>
  readonly #after: Statement<[number, number], PackedDecision>
  readonly #inputs: InputReader
  readonly #last: Statement<[], number>
  readonly #move: Statement<[number, number, string, number, number]>

  constructor(database: Database, receiver: string) {
    this.#receiver = receiver
    this.#database = database
    this.#inputs = new InputReader(database)
    this.#files = keptDatabase(database.name)
    database
      .prepare(
        `insert or ignore into shipping (receiver, epoch, through_seq, missing)
           select ?, 0, coalesce(min(seq), 1) - 1, 0 from decisions`,
      )
      .run(receiver)
    this.#place = database.prepare('select * from shipping where receiver = ?')
    this.#after = database.prepare('select * from decisions where seq > ? order by seq limit ?')
    this.#last = database.prepare<[], number>('select coalesce(max(seq), 0) from decisions').pluck()
    this.#move = database.prepare(
      'update shipping set through_seq = ?, missing = missing + ? where receiver = ? and epoch = ? and through_seq = ?',
    )
  }

  next({ rows, bytes }: PageBounds): UnshippedDecisions | undefined {
    return this.#attempt(() => {
      requireKept(this.#files)
      return this.#database.transaction(() => {
        const { epoch, through_seq: afterSeq } = this.#shipping()
        const decisions: StoredDecision[] = []
        let total = 0
        for (const row of this.#after.iterate(afterSeq, rows)) {
          total += (row.input_bytes ?? 0) + (row.result?.length ?? 0)
          if (decisions.length > 0 && total > bytes) break
          decisions.push(toStoredDecision(this.#inputs.unpack(row)))
        }
        const last = decisions.at(-1)
        return last && { decisions, place: { epoch, afterSeq, throughSeq: last.seq } }
      })()
    })
  }

  noteShipped({ epoch, afterSeq, throughSeq }: ShippingPlace, kept: number): void {
    this.#attempt(() =>
      this.#move.run(throughSeq, throughSeq - afterSeq - kept, this.#receiver, epoch, afterSeq),
    )
  }

  state(): ShippingState {
    return this.#attempt(() => {
      const { through_seq: throughSeq, missing } = this.#shipping()
      return { waiting: Math.max(0, (this.#last.get() ?? 0) - throughSeq), missing }
    })
  }

  close(): void {
    this.#database.close()
  }

  #shipping(): Pick<ShippingTable, 'epoch' | 'through_seq' | 'missing'> {
    return this.#place.get(this.#receiver) ?? { epoch: 0, through_seq: 0, missing: 0 }
  }

  #attempt<T>(work: () => T): T {
    try {
      return work()
    } catch (raw) {
      throw toStoreError('ship decisions', raw)
    }
  }
}
