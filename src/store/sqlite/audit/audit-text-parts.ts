import type { Database, Statement } from 'better-sqlite3'

/**
 * One index of the free text of consecutive records. All of it goes at once, with the last of its records: FTS5 takes single records out of an index by
 * writing it anew, and joins all entries of a word in one step, which in an index of half a million records takes as long as 80 ms.
 */
export interface TextPart {
  readonly part: number
  readonly firstSeq: number
}

/** The index that earlier releases wrote: one for all records, out of which each is taken by itself. */
export const UNDIVIDED = 0

const LEAST_RECORDS = 5000
/** A search asks one part after the other, so a long trail has larger ones. */
const PARTS_WANTED = 64

/** Begins a part where the newest is full. */
export interface TextParts {
  /** Returns the part that the record of this number goes into. */
  readonly partFor: (seq: number) => number
  /** All parts, the newest first. */
  readonly list: () => readonly TextPart[]
  readonly drop: (part: number) => void
}

export function textTable(part: number): string {
  return part === UNDIVIDED ? 'audit_text' : `audit_text_${part}`
}

/** Returns a function that reads the parts, the newest first. */
export function selectTextParts(database: Database): () => readonly TextPart[] {
  const select = database.prepare<[], TextPart>(
    'select part, first_seq as firstSeq from audit_text_parts order by part desc',
  )
  return () => select.all()
}

/** The parts on the connection that writes. */
export function makeTextParts(database: Database): TextParts {
  const list = selectTextParts(database)
  const selectOldest = database.prepare<[], number | null>('select min(seq) from audit').pluck()
  const insert = database.prepare<[number, number]>('insert into audit_text_parts values (?, ?)')
  const remove = database.prepare<[number]>('delete from audit_text_parts where part = ?')
  const isFull = ({ part, firstSeq }: TextPart, seq: number): boolean => {
    const records = seq - (selectOldest.get() ?? seq)
    return part === UNDIVIDED || seq - firstSeq >= Math.max(LEAST_RECORDS, records / PARTS_WANTED)
  }
  return {
    list,
    partFor: (seq) => {
      const newest = list()[0]
      if (newest !== undefined && !isFull(newest, seq)) return newest.part
      const part = (newest?.part ?? UNDIVIDED) + 1
      database.exec(creation(textTable(part)))
      insert.run(part, seq)
      return part
    },
    drop: (part) => {
      database.exec(`drop table ${textTable(part)}`)
      remove.run(part)
    },
  }
}

/** Its segments are joined in steps of their own: left to itself, FTS5 joins them while records are added, now and then many at once. */
function creation(table: string): string {
  return `create virtual table ${table} using fts5(
      body, content = '', columnsize = 0, detail = 'none', tokenize = 'unicode61 remove_diacritics 2');
    insert into ${table} (${table}, rank) values ('automerge', 0)`
}

/** Returns a function that gives the statement of a part, compiled once for as long as it is among the last `kept` that were asked for. */
export function statementsByPart<Args extends unknown[], Row>(
  database: Database,
  kept: number,
  sqlFor: (table: string) => string,
): (part: number) => Statement<Args, Row> {
  const statements = new Map<number, Statement<Args, Row>>()
  return (part) => {
    const statement = statements.get(part) ?? database.prepare<Args, Row>(sqlFor(textTable(part)))
    statements.delete(part)
    statements.set(part, statement)
    for (const oldest of statements.keys()) {
      if (statements.size <= kept) break
      statements.delete(oldest)
    }
    return statement
  }
}
