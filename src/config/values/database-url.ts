/** Form of a database URL, as the end of the sentence "must be …". */
export const DATABASE_URL_TEXT =
  'a URL such as postgres://tidegate@db.example.org:5432/tidegate, with several hosts separated by commas for failover, without a password (see store.password), and with no query but ?host=/directory of a Unix socket'

/** Placeholder for a host omitted after a user, which a web URL does not allow. */
const NO_HOST = 'left.out.invalid'
const PARTS = /^(?<start>postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)(?<hosts>[^/?#]*)(?<rest>.*)$/s

/** The parts of a database URL. Missing parts are empty. */
export interface DatabaseUrl {
  /** At least one. */
  readonly hosts: readonly DatabaseHost[]
  readonly user: string
  readonly database: string
}

interface DatabaseHost {
  /** A name, an address, or the directory of a Unix socket. */
  readonly host: string
  readonly port: string
}

/**
 * Whether a text is a PostgreSQL URL. It must not contain secrets or certificates, so that it may
 * be shown.
 */
export function isDatabaseUrl(text: string): boolean {
  return readDatabaseUrl(text) !== undefined
}

/**
 * Parses a PostgreSQL URL. Undefined for anything else. Several hosts are written as for libpq
 * (postgresql.org/docs/15/libpq-connect.html, 34.1.1.3).
 */
export function readDatabaseUrl(text: string): DatabaseUrl | undefined {
  const { start, hosts = '', rest } = PARTS.exec(text)?.groups ?? {}
  if (start === undefined || rest === undefined) return undefined
  const named = hosts.split(',')
  if (named.length > 1 && (named.includes('') || rest.includes('?'))) return undefined
  const read = named.map((host) => readOneHost(`${start}${host === '' ? NO_HOST : host}${rest}`))
  const [first] = read
  if (first === undefined || read.includes(undefined)) return undefined
  return { ...first, hosts: read.flatMap((one) => one?.hosts ?? []) }
}

function readOneHost(text: string): DatabaseUrl | undefined {
  if (!URL.canParse(text)) return undefined
  const { hostname, port, username, password, pathname, searchParams, hash } = new URL(text)
  const isOurs = password === '' && hash === '' && [...searchParams.keys()].every((name) => name === 'host')
  if (!isOurs) return undefined
  try {
    const named = hostname === NO_HOST ? '' : decodeURIComponent(hostname.replace(/^\[(.*)\]$/, '$1'))
    return {
      hosts: [{ host: searchParams.get('host') ?? named, port }],
      user: decodeURIComponent(username),
      database: decodeURIComponent(pathname.slice(1)),
    }
  } catch {
    // A percent sign that is not part of an escape.
    return undefined
  }
}
