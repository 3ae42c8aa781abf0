import { DatabaseError } from 'pg'
import { AppError, toError } from '../../../errors/app-error.js'

/** Error code of a database that cannot be reached or refuses to work. */
export const STORE_AWAY = 'store_away'

/** A server that accepts connections, or did, but does not respond. */
export class ServerUnresponsive extends Error {
  override readonly name = 'ServerUnresponsive'

  constructor() {
    super('it does not respond')
  }
}

/** Messages of the client library for a connection timeout, of a connection and of a pool. */
const CONNECT_TIMEOUT =
  /^(?:timeout expired$|Connection terminated due to connection timeout|timeout exceeded)/

/** Message of the client library if the server wants a password and there is none. */
const NO_PASSWORD = 'client password must be a'

/**
 * Server errors after which nothing of the transaction was stored and it may be tried again (40001,
 * 40P01).
 */
const RETRYABLE = new Set(['40001', '40P01'])

/**
 * Explanations of server error codes (postgresql.org/docs/15/errcodes-appendix.html). The longest
 * prefix counts.
 */
const EXPLANATIONS: Readonly<Record<string, string>> = {
  '25006':
    'it refuses writes: if it is a standby, set store.url to the primary or to all hosts; else turn default_transaction_read_only off',
  '26000': 'a pooler switches connections: set it to session mode',
  '28': 'it refuses the user or the password: check store.url, store.password and pg_hba.conf',
  '3F000': 'search_path names no existing schema: create it, or name another one',
  '3D000': 'there is no such database: create it, or correct store.url',
  '42501': 'the user lacks the permission: make it the owner of the schema',
  '42P05': 'a pooler switches connections: set it to session mode',
  '42P01': 'the schema is not complete: run `tidegate store migrate`',
  '53100': 'its disk is full: free some space there',
  '53300': 'it accepts no more connections: raise max_connections there, or lower store.connections',
  '53': 'it is out of resources',
  '55P03': 'another replica writes for too long; try again',
  '57014': 'it took too long; try again',
  '57P03': 'it is starting or stopping; try again',
}
const MAX_CODE_LENGTH = 5

/** Maps a driver's error to an AppError that names the action. */
export function toStoreError(action: string, raw: unknown): AppError {
  if (raw instanceof AppError) return raw
  const cause = toError(raw)
  if (raw instanceof DatabaseError && (raw.code ?? '').startsWith('23')) {
    return new AppError('conflict', `${action}: ${cause.message}`, { cause })
  }
  if (raw instanceof DatabaseError && isAboutData(raw)) {
    return new AppError('internal', `${action}: ${cause.message}`, { cause })
  }
  return new AppError('unavailable', `${action}: ${explain(raw, cause)}`, { code: STORE_AWAY, cause })
}

/** Runs an action; a failure names it, as `toStoreError` does. */
export async function naming<T>(action: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (raw) {
    throw toStoreError(action, raw)
  }
}

/** Maps a driver's error like `toStoreError` and returns the operations' own errors unchanged. */
export function fromDriver(action: string, raw: unknown): unknown {
  return raw instanceof DatabaseError || isLostConnection(raw) ? toStoreError(action, raw) : raw
}

/** Whether nothing of the transaction was stored and a retry may succeed. */
export function isRetryable(raw: unknown): boolean {
  return raw instanceof DatabaseError && (RETRYABLE.has(raw.code ?? '') || isOutdatedStatement(raw))
}

/**
 * Whether the server rejects a prepared statement because its columns have changed, after a
 * migration by a newer release. It must be prepared under another name. The error code (0A000) is
 * ambiguous; the name of the server function is the same in every language.
 */
export function isOutdatedStatement(raw: unknown): boolean {
  return raw instanceof DatabaseError && raw.routine === 'RevalidateCachedQuery'
}

/** Whether an error concerns a single operation: a constraint or an invalid value. */
export function isAboutOneCall(raw: unknown): boolean {
  return raw instanceof DatabaseError && (isAboutData(raw) || (raw.code ?? '').startsWith('23'))
}

/** Whether the connection is gone or was never made. */
export function isLostConnection(raw: unknown): boolean {
  if (raw instanceof AppError || !(raw instanceof Error)) return false
  // A connection to a server that refuses writes no longer leads to the primary.
  if (raw instanceof DatabaseError) return /^(?:08|57P0|25006|25P0[34])/.test(raw.code ?? '')
  return (
    'syscall' in raw ||
    isAboutCertificate(raw) ||
    isUnresponsive(raw) ||
    /^(?:Connection terminated|Client|Query read timeout|SASL|The server does not support SSL)/.test(
      raw.message,
    )
  )
}

/** Whether the server did not respond at all: another try would take as long. */
export function isUnresponsive(raw: unknown): boolean {
  return raw instanceof ServerUnresponsive || (raw instanceof Error && CONNECT_TIMEOUT.test(raw.message))
}

/** Whether an existing connection was lost. A new one may work. */
export function isStaleConnection(raw: unknown): boolean {
  if (raw instanceof DatabaseError) return /^(?:08|57P0[125]|25P0[34])/.test(raw.code ?? '')
  if (!(raw instanceof Error) || isUnresponsive(raw)) return false
  return /^Connection terminated|\b(?:EPIPE|ECONNRESET)\b/.test(raw.message)
}

/** Class 22: an invalid value. */
function isAboutData({ code = '' }: DatabaseError): boolean {
  return code.startsWith('22')
}

function explain(raw: unknown, { message }: Error): string {
  if (raw instanceof DatabaseError) {
    const { code = '' } = raw
    for (let length = MAX_CODE_LENGTH; length > 0; length--) {
      const found = EXPLANATIONS[code.slice(0, length)]
      if (found !== undefined) return `PostgreSQL: ${message} (${code}): ${found}`
    }
    return `PostgreSQL: ${message} (${code})`
  }
  if (message.includes(NO_PASSWORD))
    return 'PostgreSQL requires a password: set store.password, PGPASSWORD or ~/.pgpass'
  return isAboutCertificate(raw)
    ? `PostgreSQL has an untrusted certificate (${message}): check store.tlsCa, and that the certificate is for the host of store.url`
    : `PostgreSQL cannot be reached (${message}): check that it runs and that store.url is correct`
}

/** TLS certificate errors (nodejs.org/api/tls.html, x509 certificate error codes). */
function isAboutCertificate(raw: unknown): boolean {
  const code = raw instanceof Error && 'code' in raw ? String(raw.code) : ''
  return /CERT|SELF_SIGNED|^UNABLE_TO|^ERR_TLS/.test(code)
}
