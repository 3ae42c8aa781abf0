import { sql } from 'kysely'
import type { Kysely } from 'kysely'
import { TEXT } from '../engine/migrate.js'
import { RARE_OUTCOMES } from '../decisions/decision-months.js'

/**
 * The shared decision log, partitioned by month (`decision-months.ts`), with the indexes of the
 * local file.
 */
export async function createDecisions(db: Kysely<unknown>): Promise<void> {
  await sql`create table decisions (
    seq bigint generated always as identity, decision_id ${TEXT} not null, time_ms bigint not null, replica ${TEXT} not null,
    kind ${TEXT} not null, path ${TEXT} not null, revision ${TEXT} not null, outcome ${TEXT} not null, application ${TEXT},
    execution_id ${TEXT}, caller ${TEXT}, duration_ns bigint not null, request_id ${TEXT}, error ${TEXT}, input_bytes bigint,
    input_truncated integer not null, result_truncated integer not null, result bytea, input bytea,
    primary key (decision_id, time_ms)) partition by range (time_ms)`.execute(db)
  await sql`create index decisions_by_time on decisions (time_ms, seq)`.execute(db)
  await sql`create index decisions_by_path on decisions (path, time_ms, seq)`.execute(db)
  for (const column of ['application', 'execution_id']) {
    await sql`create index ${sql.id(`decisions_by_${column}`)} on decisions (${sql.id(column)}, time_ms, seq)
      where ${sql.id(column)} is not null`.execute(db)
  }
  await sql`create index decisions_by_rare_outcome on decisions (outcome, time_ms, seq)
    where ${sql.raw(RARE_OUTCOMES)}`.execute(db)
}

/** Results of non-deterministic built-ins. */
export async function addBuiltinCache(db: Kysely<unknown>): Promise<void> {
  await sql`alter table decisions add column nd_builtin_cache bytea`.execute(db)
}

/** The packages that deny. */
export async function addPackages(db: Kysely<unknown>): Promise<void> {
  await sql`alter table decisions add column packages bytea`.execute(db)
}

/**
 * One row per denying package of a decision, in the order of a package's pages. It is not
 * partitioned: rows are removed together with the month of their decisions.
 */
export async function createDenyingPackages(db: Kysely<unknown>): Promise<void> {
  await sql`create table decision_packages (package ${TEXT} not null, time_ms bigint not null, seq bigint not null,
    primary key (package, time_ms, seq))`.execute(db)
  await sql`insert into decision_packages (package, time_ms, seq)
    select distinct named ->> 'package', time_ms, seq
    from decisions, json_array_elements(convert_from(packages, 'UTF8')::json) as named
    where outcome = 'deny' and named ->> 'package' is not null`.execute(db)
}
