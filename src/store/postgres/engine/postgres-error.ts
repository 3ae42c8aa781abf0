import { DatabaseError } from 'pg'
import { AppError, toError } from '../../../errors/app-error.js'

/** The wire code for a database that cannot be reached or does not let us work. */
export const STORE_AWAY = 'store_away'

/** A server that takes connections, or did, and says nothing. */
export class ServerSilent extends Error {
  override readonly name = 'ServerSilent'

  constructor() {
    super('it gives no answer')
  }
}

/** What the client library says where a server has not let it in in time: of one connection, and of one of a pool. */
const NOT_IN_TIME = /^(?:timeout expired$|Connection terminated due to connection timeout|timeout exceeded)/

/** What it says where the server asks for a password and there is none. */
const NO_PASSWORD = 'client password must be a'

/** Errors of the server that say that nothing of a transaction was kept and that it may be tried again (40001, 40P01). */
const RETRYABLE = new Set(['40001', '40P01'])

/** What the server's codes mean to people (postgresql.org/docs/15/errcodes-appendix.html): the longest prefix counts. */
const EXPLANATIONS: Readonly<Record<string, string>> = {
  '25006':
    'it takes no writes, so it may be a standby: point store.url to the primary, or name all hosts in it; or default_transaction_read_only is on',
  '26000': 'something between does not keep to a connection: let it work in session mode',
  '28': 'it refuses the user or the password: look at store.url, store.password and pg_hba.conf',
  '3F000': 'search_path names no schema that there is: make it, or name another one',
  '3D000': 'there is no such database: create it, or correct store.url',
  '42501': 'the user may not do that: make it the owner of the schema',
  '42P05': 'something between does not keep to a connection: let it work in session mode',
  '42P01': 'the schema is not complete: run `tidegate store migrate`',
  '53100': 'its disk is full: free some space there',
  '53300': 'it takes no more connections: raise max_connections there, or lower store.connections',
  '53': 'it is out of resources',
  '55P03': 'another replica writes for too long; try again',
  '57014': 'it took too long; try again',
  '57P03': 'it is starting or stopping; try again',
}
const LONGEST_CODE = 5

/** Names what was being done and maps what the driver raised to an error kind. */
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

/** The same for the driver's errors alone; all others are the operations' own and stay as they are. */
export function fromDriver(action: string, raw: unknown): unknown {
  return raw instanceof DatabaseError || isLostConnection(raw) ? toStoreError(action, raw) : raw
}

/** Whether nothing of a statement or its transaction was kept, and it may succeed when it is tried again. */
export function isRetryable(raw: unknown): boolean {
  return raw instanceof DatabaseError && (RETRYABLE.has(raw.code ?? '') || isOutdated(raw))
}

/**
 * Whether the server refuses a prepared statement since its columns are others by now: a newer release has migrated. It is to be prepared
 * under another name. The code (0A000) says less than the function that raises it, which has the same name in every language.
 */
export function isOutdated(raw: unknown): boolean {
  return raw instanceof DatabaseError && raw.routine === 'RevalidateCachedQuery'
}

/** Whether an error is about what one operation wanted to write, and says nothing against others: a constraint, a wrong value. */
export function isAboutOneCall(raw: unknown): boolean {
  return raw instanceof DatabaseError && (isAboutData(raw) || (raw.code ?? '').startsWith('23'))
}

/** What the driver raises without a word of the server's: the connection is gone, or was never there. */
export function isLostConnection(raw: unknown): boolean {
  if (raw instanceof AppError || !(raw instanceof Error)) return false
  // A connection to a server that takes no writes leads to the primary no more.
  if (raw instanceof DatabaseError) return /^(?:08|57P0|25006|25P0[34])/.test(raw.code ?? '')
  return (
    'syscall' in raw ||
    isAboutCertificate(raw) ||
    isSilent(raw) ||
    /^(?:Connection terminated|Client|Query read timeout|SASL|The server does not support SSL)/.test(
      raw.message,
    )
  )
}

/** Whether the server has said nothing at all: to ask it again at once takes as long again. */
export function isSilent(raw: unknown): boolean {
  return raw instanceof ServerSilent || (raw instanceof Error && NOT_IN_TIME.test(raw.message))
}

/** Whether a connection that was there is gone: another may well be had at once. */
export function isStaleConnection(raw: unknown): boolean {
  if (raw instanceof DatabaseError) return /^(?:08|57P0[125]|25P0[34])/.test(raw.code ?? '')
  if (!(raw instanceof Error) || isSilent(raw)) return false
  return /^Connection terminated|\b(?:EPIPE|ECONNRESET)\b/.test(raw.message)
}

/** Class 22: a value that the server cannot take. */
function isAboutData({ code = '' }: DatabaseError): boolean {
  return code.startsWith('22')
}

function explain(raw: unknown, { message }: Error): string {
  if (raw instanceof DatabaseError) {
    const { code = '' } = raw
    for (let length = LONGEST_CODE; length > 0; length--) {
      const found = EXPLANATIONS[code.slice(0, length)]
      if (found !== undefined) return `PostgreSQL: ${message} (${code}): ${found}`
    }
    return `PostgreSQL: ${message} (${code})`
  }
  if (message.includes(NO_PASSWORD))
    return 'PostgreSQL asks for a password: name one by store.password, PGPASSWORD or ~/.pgpass'
  return isAboutCertificate(raw)
    ? `PostgreSQL shows a certificate that is not trusted (${message}): look at store.tlsCa, and whether the certificate is for the host of store.url`
    : `PostgreSQL cannot be reached (${message}): look whether it runs and store.url names it`
}

/** What TLS raises for a certificate (nodejs.org/api/tls.html, x509 certificate error codes). */
function isAboutCertificate(raw: unknown): boolean {
  const code = raw instanceof Error && 'code' in raw ? String(raw.code) : ''
  return /CERT|SELF_SIGNED|^UNABLE_TO|^ERR_TLS/.test(code)
}
