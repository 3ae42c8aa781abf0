import { Client, DatabaseError } from 'pg'
import { hasErrorCode } from '../../../errors/app-error.js'
import { clientConfig } from './client-config.js'
import { endNow } from './end-client.js'
import { ServerSilent } from './postgres-error.js'
import type { PostgresSettings } from './postgres-settings.js'

/** A statement that takes no longer is not looked after. */
const LOOK_MS = 4000
const ANSWER_MS = 3000

/**
 * Runs a statement, and looks every few seconds whether its server still answers anybody. One that only takes long is waited for; of one that
 * stands still, or is cut off, `giveUp` ends the connection, and with it the statement. Raises ServerSilent then, else what the statement raises.
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

/** What a server says to another connection: that it takes writes, anything else (be it that it takes no connection), or nothing. */
export type ServerAnswer = 'takes writes' | 'something' | 'nothing'

/** What a server says within so many milliseconds. */
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
