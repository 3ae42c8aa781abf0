import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import {
  addAnalysisRetention,
  addFeedback,
  addLookAttempts,
  addNamedTemplates,
  createAnalysis,
  createPlanParts,
} from '../../schema/analysis.js'
import type { ColumnTypes } from '../../schema/column-types.js'
import { createExceptions } from '../../schema/exceptions.js'
import { addGateEnds, addGateRules, addPolicyProblems, createGates } from '../../schema/gates.js'
import { createNotifications } from '../../schema/notifications.js'
import { createOutbox, createRegistry } from '../../schema/records.js'
import type { Migrations } from '../engine/migrate.js'

/** The audit trail. */
async function createAudit(db: Kysely<unknown>): Promise<void> {
  await createTrail(db)
  await createCheckpoints(db)
  await createSearch(db)
  await refuseChanges(db)
}

/** Turns off automatic merging of the text index, which is merged in steps. */
async function mergeTextInSteps(db: Kysely<unknown>): Promise<void> {
  await sql`insert into audit_text (audit_text, rank) values ('automerge', 0)`.execute(db)
}

/**
 * Rewrites a segment of the text index once half of its records are deleted. With FTS5's default of
 * a tenth, retention spent nine tenths of its work on rewriting.
 */
async function keepHalfDeadText(db: Kysely<unknown>): Promise<void> {
  await sql`insert into audit_text (audit_text, rank) values ('deletemerge', 50)`.execute(db)
}

/**
 * Divides the text index into parts (`audit_text_parts`, each with a table `audit_text_N`) that are
 * dropped as a whole. Existing entries stay in `audit_text`, part 0, from which records are deleted
 * one by one.
 */
async function divideText(db: Kysely<unknown>): Promise<void> {
  await sql`create table audit_text_parts (part integer primary key, first_seq integer not null)`.execute(db)
  const { rows } =
    await sql`insert into audit_text_parts select 0, 0 from audit_progress where text_seq > 0 returning part`.execute(
      db,
    )
  if (rows.length === 0) await sql`drop table audit_text`.execute(db)
}

async function createTrail(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('audit')
    .addColumn('seq', 'integer', (column) => column.primaryKey())
    .addColumn('time_ms', 'bigint', (column) => column.notNull())
    .addColumn('recorded_ms', 'bigint', (column) => column.notNull())
    .addColumn('source', 'text', (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('application', 'text')
    .addColumn('pipeline', 'text')
    .addColumn('execution_id', 'text')
    .addColumn('stage', 'text')
    .addColumn('user', 'text')
    .addColumn('status', 'text')
    .addColumn('origin', 'text')
    .addColumn('event_id', 'text')
    .addColumn('body_bytes', 'integer', (column) => column.notNull())
    .addColumn('hash', 'blob', (column) => column.notNull())
    // Last, so that reading the columns before it does not read its overflow pages.
    .addColumn('body', 'blob', (column) => column.notNull())
    .execute()
  await db.schema.createIndex('audit_by_time').on('audit').column('time_ms').execute()
  // A number derived from the event id: a third of the size of an index of ids, which grows with
  // every event.
  await db.schema
    .createTable('audit_event_keys')
    .addColumn('event_key', 'integer', (column) => column.primaryKey())
    .addColumn('seq', 'integer', (column) => column.notNull())
    .execute()
}

async function createCheckpoints(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('audit_checkpoints')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('seq', 'integer', (column) => column.notNull())
    .addColumn('hash', 'blob', (column) => column.notNull())
    .addColumn('at_ms', 'bigint', (column) => column.notNull())
    .addColumn('reason', 'text', (column) => column.notNull())
    .addColumn('key_id', 'text')
    .addColumn('signature', 'text')
    .execute()
  await db.schema.createIndex('audit_checkpoints_by_seq').on('audit_checkpoints').column('seq').execute()
}

/** Indexes for searches. They are filled after the records are stored, in larger steps. */
async function createSearch(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('audit_values')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('value', 'text', (column) => column.notNull())
    .addUniqueConstraint('audit_values_once', ['name', 'value'])
    .execute()
  await sql`create table audit_postings (
    value_id integer not null, time_ms bigint not null, seq integer not null,
    primary key (value_id, time_ms, seq)) without rowid`.execute(db)
  await sql`create virtual table audit_text using fts5(
    body, content = '', contentless_delete = 1, detail = 'none', tokenize = 'unicode61 remove_diacritics 2')`.execute(
    db,
  )
  await sql`create table audit_progress (
    columns_seq integer not null, text_seq integer not null, keys_seq integer not null)`.execute(db)
  await sql`insert into audit_progress values (0, 0, 0)`.execute(db)
}

/**
 * Forbids changes and removals. Only retention may remove the oldest records, within its
 * transaction.
 */
async function refuseChanges(db: Kysely<unknown>): Promise<void> {
  await sql`create table audit_retention (through_seq integer not null)`.execute(db)
  await sql`create trigger audit_never_changes before update on audit
    begin select raise(abort, 'the audit trail is append-only'); end`.execute(db)
  await sql`create trigger audit_never_shrinks before delete on audit
    when not exists (select 1 from audit_retention where old.seq <= through_seq)
    begin select raise(abort, 'the audit trail is append-only'); end`.execute(db)
  await sql`create trigger audit_checkpoints_never_change before update on audit_checkpoints
    begin select raise(abort, 'checkpoints are append-only'); end`.execute(db)
  await sql`create trigger audit_checkpoints_never_shrink before delete on audit_checkpoints
    begin select raise(abort, 'checkpoints are append-only'); end`.execute(db)
}

/** Forbids `insert or replace`, which deletes rows without firing delete triggers. */
async function refuseReplacements(db: Kysely<unknown>): Promise<void> {
  await sql`create trigger audit_never_replaced before insert on audit
    when exists (select 1 from audit where seq = new.seq)
    begin select raise(abort, 'the audit trail is append-only'); end`.execute(db)
  await sql`create trigger audit_checkpoints_never_replaced before insert on audit_checkpoints
    when exists (select 1 from audit_checkpoints where id = new.id)
    begin select raise(abort, 'checkpoints are append-only'); end`.execute(db)
}

const TYPES: ColumnTypes = {
  text: sql`text`,
  bytes: sql`blob`,
  numbered: sql`integer primary key autoincrement`,
  rowId: sql`integer primary key`,
}

/** The schema of `tidegate.db`, in the order in which its parts were added. */
export const serviceMigrations: Migrations = {
  '0001-audit': { up: createAudit },
  '0002-outbox': { up: (db) => createOutbox(db, TYPES) },
  '0003-gates': { up: (db) => createGates(db, TYPES) },
  '0004-events': {
    /** Events that are stored and not acted on yet. */
    up: async (db) => {
      await sql`create table event_queue (seq integer primary key)`.execute(db)
    },
  },
  '0005-registry': { up: (db) => createRegistry(db, TYPES) },
  '0006-analysis': { up: (db) => createAnalysis(db, TYPES) },
  '0007-gate-ends': { up: addGateEnds },
  '0008-analysis-retention': { up: addAnalysisRetention },
  '0009-audit-text-merges': { up: mergeTextInSteps },
  '0010-audit-never-replaced': { up: refuseReplacements },
  '0011-analysis-attempts': { up: addLookAttempts },
  '0012-analysis-plan-parts': { up: (db) => createPlanParts(db, TYPES) },
  '0013-analysis-named-templates': { up: addNamedTemplates },
  '0014-audit-text-removals': { up: keepHalfDeadText },
  '0015-audit-text-parts': { up: divideText },
  '0016-gate-policy-problems': { up: (db) => addPolicyProblems(db, TYPES) },
  '0017-exceptions': { up: (db) => createExceptions(db, TYPES) },
  '0018-notifications': { up: (db) => createNotifications(db, TYPES) },
  '0019-analysis-feedback': { up: (db) => addFeedback(db, TYPES) },
  '0020-gate-rules': { up: (db) => addGateRules(db, TYPES) },
}
