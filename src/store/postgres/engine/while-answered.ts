import { Client, DatabaseError } from 'pg'
import { hasErrorCode } from '../../../errors/app-error.js'
import { clientConfig } from './client-config.js'
import { endNow } from './end-client.js'
import { ServerSilent } from './postgres-error.js'
import type { PostgresSettings } from './postgres-settings.js'

/** A statement is checked once it takes longer than this. */
const LOOK_MS = 4000
const ANSWER_MS = 3000

/**
 * Runs a statement and checks every few seconds whether the server responds to another connection.
 * A slow statement is waited for. If the server is unresponsive, `giveUp` ends the connection and
 * with it the statement. Raises ServerSilent then, else the error of the statement.
 */
export async function whileAnswered<T>(
  settings: PostgresSettings,
  act: () => Promise<T>,
  giveUp: () => void,
): Promise<T> {
  let silence: ServerSilent | undefined
  let isLooking = false
  const look = async (): Promise<void> => {
    if (isLooking) return
    isLooking = true
    const isSilent = (await answerOf(settings, ANSWER_MS)) === 'nothing'
    isLooking = false
    if (!isSilent || isOver) return
    silence = new ServerSilent()
    giveUp()
  }
  let isOver = false
  const looks = setInterval(() => void look(), LOOK_MS).unref()
  try {
    return await act()
  } catch (raw) {
    throw silence ?? raw
  } finally {
    isOver = true
    clearInterval(looks)
  }
}

/**
 * Response of a server to a new connection: it accepts writes, anything else (even a refused
 * connection), or none.
 */
export type ServerAnswer = 'takes writes' | 'something' | 'nothing'

/** Returns the response of a server within a time. */
export async function answerOf(settings: PostgresSettings, withinMs: number): Promise<ServerAnswer> {
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
