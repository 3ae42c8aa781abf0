import { Client, DatabaseError } from 'pg'
import { hasErrorCode } from '../../../errors/app-error.js'
import { clientConfig } from './client-config.js'
import { endNow } from './end-client.js'
import { ServerUnresponsive } from './postgres-error.js'
import type { PostgresSettings } from './postgres-settings.js'

/** A statement is checked once it takes longer than this. */
const CHECK_INTERVAL_MS = 4000
const RESPONSE_TIMEOUT_MS = 3000

/**
 * Runs a statement and checks every few seconds whether the server responds to another connection.
 * A slow statement is waited for. If the server is unresponsive, `giveUp` ends the connection and
 * with it the statement. Raises ServerUnresponsive then, else the error of the statement.
 */
export async function whileResponsive<T>(
  settings: PostgresSettings,
  run: () => Promise<T>,
  giveUp: () => void,
): Promise<T> {
  let unresponsive: ServerUnresponsive | undefined
  let isChecking = false
  const check = async (): Promise<void> => {
    if (isChecking) return
    isChecking = true
    const isUnresponsive = (await probeServer(settings, RESPONSE_TIMEOUT_MS)) === 'nothing'
    isChecking = false
    if (!isUnresponsive || isOver) return
    unresponsive = new ServerUnresponsive()
    giveUp()
  }
  let isOver = false
  const checks = setInterval(() => void check(), CHECK_INTERVAL_MS).unref()
  try {
    return await run()
  } catch (raw) {
    throw unresponsive ?? raw
  } finally {
    isOver = true
    clearInterval(checks)
  }
}

/**
 * Response of a server to a new connection: it accepts writes, anything else (even a refused
 * connection), or none.
 */
export type ServerResponse = 'takes writes' | 'something' | 'nothing'

/** Returns the response of a server within a time. */
export async function probeServer(settings: PostgresSettings, withinMs: number): Promise<ServerResponse> {
  const config = clientConfig(settings, { statementMs: withinMs })
  const client = new Client({ ...config, connectionTimeoutMillis: withinMs, query_timeout: withinMs })
  client.on('error', () => undefined)
  try {
    await client.connect()
    const { rows } = await client.query<{ is_standby: boolean }>('select pg_is_in_recovery() as is_standby')
    return rows[0]?.is_standby === false ? 'takes writes' : 'something'
  } catch (raw) {
    return raw instanceof DatabaseError || hasErrorCode(raw, 'ECONNREFUSED') ? 'something' : 'nothing'
  } finally {
    endNow(client)
  }
}
