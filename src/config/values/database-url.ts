/** What `isDatabaseUrl` takes, as the end of the sentence "must be …". */
export const DATABASE_URL_TEXT =
  'a URL such as postgres://tidegate@db.example.org:5432/tidegate, without a password (that is store.password) and with nothing behind the name but ?host=/directory of a unix socket'

/** Stands for a host that is left out behind a user, which no URL of the web may do. */
const NO_HOST = 'left.out.invalid'
const WITHOUT_HOST = /^(postgres(?:ql)?:\/\/[^/?#]*@)(?=[/?#]|$)/

/** What a URL says; empty texts where it says nothing. */
export interface DatabaseUrl {
  /** A name, an address, or the directory of a unix socket. */
  readonly host: string
  readonly port: string
  readonly user: string
  readonly database: string
}

/** Whether a text names a database of PostgreSQL. Secrets and certificates stand elsewhere, so that the URL may be shown. */
export function isDatabaseUrl(text: string): boolean {
  return readDatabaseUrl(text) !== undefined
}

/** The parts of such a text; undefined for any other. */
export function readDatabaseUrl(text: string): DatabaseUrl | undefined {
  const whole = text.replace(WITHOUT_HOST, `$1${NO_HOST}`)
  if (!URL.canParse(whole)) return undefined
  const { protocol, hostname, port, username, password, pathname, searchParams, hash } = new URL(whole)
  const isOurs =
    ['postgres:', 'postgresql:'].includes(protocol) &&
    password === '' &&
    hash === '' &&
    [...searchParams.keys()].every((name) => name === 'host')
  if (!isOurs) return undefined
  try {
    const named = hostname === NO_HOST ? '' : decodeURIComponent(hostname.replace(/^\[(.*)\]$/, '$1'))
    return {
      host: searchParams.get('host') ?? named,
      port,
      user: decodeURIComponent(username),
      database: decodeURIComponent(pathname.slice(1)),
    }
  } catch {
    // A percent sign that begins no byte.
    return undefined
  }
}
