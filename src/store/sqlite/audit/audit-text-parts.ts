import type { Database, Statement } from 'better-sqlite3'

/**
 * A text index of consecutive records. It is dropped as a whole after its last record. FTS5
 * rewrites an index to delete single records and merges all entries of a word in one step, which
 * takes up to 80 ms with half a million records.
 */
export interface TextPart {
  readonly part: number
  readonly firstSeq: number
}

/** The single index of earlier releases, from which records are deleted one by one. */
export const UNDIVIDED = 0

const MIN_RECORDS = 5000
/** Number of parts to aim for: a search visits all parts, so a long trail has larger ones. */
const PARTS_WANTED = 64

/** Creates and drops parts. */
export interface TextParts {
  /** Returns the part for a record, and creates one if the newest is full. */
  readonly partFor: (seq: number) => number
  /** All parts, newest first. */
  readonly list: () => readonly TextPart[]
  readonly drop: (part: number) => void
}

export function textTable(part: number): string {
  return part === UNDIVIDED ? 'audit_text' : `audit_text_${part}`
}

/** Returns a function that reads the parts, newest first. */
export function selectTextParts(database: Database): () => readonly TextPart[] {
  const select = database.prepare<[], TextPart>(
    'select part, first_seq as firstSeq from audit_text_parts order by part desc',
  )
  return () => select.all()
}

/** Manages parts on the connection that writes. */
export function makeTextParts(database: Database): TextParts {
  const list = selectTextParts(database)
  const selectOldest = database.prepare<[], number | null>('select min(seq) from audit').pluck()
  const insert = database.prepare<[number, number]>('insert into audit_text_parts values (?, ?)')
  const remove = database.prepare<[number]>('delete from audit_text_parts where part = ?')
  const isFull = ({ part, firstSeq }: TextPart, seq: number): boolean => {
    const records = seq - (selectOldest.get() ?? seq)
    return part === UNDIVIDED || seq - firstSeq >= Math.max(MIN_RECORDS, records / PARTS_WANTED)
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

/**
 * Automatic merging is off, since FTS5 would merge many segments at once while records are added.
 */
function creation(table: string): string {
  return `create virtual table ${table} using fts5(
      body, content = '', columnsize = 0, detail = 'none', tokenize = 'unicode61 remove_diacritics 2');
    insert into ${table} (${table}, rank) values ('automerge', 0)`
}

/**
 * Returns a function that prepares the statement of a part. The last `kept` statements are cached.
 */
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
