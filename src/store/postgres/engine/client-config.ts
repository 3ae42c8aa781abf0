import { readFileSync } from 'node:fs'
import { TypeOverrides } from 'pg'
import type { ClientConfig } from 'pg'
import type { PostgresSettings, PostgresTimeouts } from './postgres-settings.js'

const CONNECT_TIMEOUT_MS = 3000
/**
 * Margin between the server's statement timeout and the client's: past it the server is
 * unresponsive.
 */
const ANSWER_MARGIN_MS = 2000
/**
 * Time after which the server ends an idle transaction of ours. A stopped or disconnected process
 * must not block others with its locks. Shorter than the lock timeout of the others.
 */
const IDLE_IN_TRANSACTION_MS = 5000
const INT8 = 20

/** Parses 64-bit integers as numbers: all of ours are below 2^53. */
const types = new TypeOverrides()
types.setTypeParser(INT8, Number)

/** Configuration of the client library for one connection. */
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

/**
 * Returns the current content of the file, or the password from the start if the file cannot be
 * read.
 */
function currentPassword(file: string, before: string): string {
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '') || before
  } catch {
    return before
  }
}

/**
 * Statements at the beginning of a connection, since poolers reject them as startup parameters.
 * They make durability and nulls in arrays independent of the database's settings.
 */
export function firstStatements({ statementMs, lockMs }: PostgresTimeouts): string {
  return `set statement_timeout = ${statementMs}; set lock_timeout = ${lockMs};
    set idle_in_transaction_session_timeout = ${IDLE_IN_TRANSACTION_MS}; set array_nulls = on;
    select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off'`
}
