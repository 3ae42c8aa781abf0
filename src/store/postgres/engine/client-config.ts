import { readFileSync } from 'node:fs'
import { TypeOverrides } from 'pg'
import type { ClientConfig } from 'pg'
import type { PostgresSettings, PostgresTimeouts } from './postgres-settings.js'

const CONNECT_TIMEOUT_MS = 3000
/** How much later than the server the client gives a statement up: then the server does not answer at all. */
const ANSWER_MARGIN_MS = 2000
/**
 * How long a transaction of ours may do nothing before the server ends it: a process that is stopped, or cut off from the database,
 * must not hold up all others with what it has locked. Less than they wait for a lock.
 */
const IDLE_IN_TRANSACTION_MS = 5000
const INT8 = 20

/** Numbers of 64 bits as numbers: all of ours are below 2^53. */
const types = new TypeOverrides()
types.setTypeParser(INT8, Number)

/** What the client library is told for one connection. */
export function clientConfig(
  { host, port, user, database, password, passwordFile, tls }: PostgresSettings,
  { statementMs }: Pick<PostgresTimeouts, 'statementMs'>,
): ClientConfig {
  return {
    host,
    port,
    user,
    database,
    ...(password !== undefined && {
      password: passwordFile === undefined ? password : () => currentPassword(passwordFile, password),
    }),
    ssl: tls !== undefined && {
      rejectUnauthorized: tls.isVerified,
      ...(tls.ca !== undefined && { ca: tls.ca }),
      ...(tls.certificate !== undefined && { cert: tls.certificate }),
      ...(tls.key !== undefined && { key: tls.key }),
    },
    application_name: 'tidegate',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    query_timeout: statementMs + ANSWER_MARGIN_MS,
    types,
  }
}

/** What the file holds by now; what it held at the start, where it cannot be read for a moment. */
function currentPassword(file: string, before: string): string {
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '') || before
  } catch {
    return before
  }
}

/**
 * What a connection begins with. Poolers take no such parameters when they are connected to; and what an acknowledged write promises, and
 * what is absent in an array, does not depend on how the database is set.
 */
export function firstStatements({ statementMs, lockMs }: PostgresTimeouts): string {
  return `set statement_timeout = ${statementMs}; set lock_timeout = ${lockMs};
    set idle_in_transaction_session_timeout = ${IDLE_IN_TRANSACTION_MS}; set array_nulls = on;
    select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off'`
}
