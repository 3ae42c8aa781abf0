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
    const isSilent = !(await answers(settings))
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

/** Whether a server says anything to another connection within so many milliseconds, be it that it takes none. */
export async function answers(settings: PostgresSettings, withinMs = ANSWER_MS): Promise<boolean> {
  const timeouts = { statementMs: withinMs, lockMs: withinMs }
  const client = new Client({ ...clientConfig(settings, timeouts), connectionTimeoutMillis: withinMs })
  client.on('error', () => undefined)
  try {
    await client.connect()
    return true
  } catch (raw) {
    return raw instanceof DatabaseError || hasErrorCode(raw, 'ECONNREFUSED')
  } finally {
    endNow(client)
  }
}
