/** What `isDatabaseUrl` takes, as the end of the sentence "must be …". */
export const DATABASE_URL_TEXT =
  'a URL such as postgres://tidegate@db.example.org:5432/tidegate, without a password (that is store.password) and with nothing behind the name but ?host=/directory of a unix socket'

/** Whether a text names a database of PostgreSQL. Secrets and certificates stand elsewhere, so that the URL may be shown. */
export function isDatabaseUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, password, searchParams, hash } = new URL(text)
  return (
    ['postgres:', 'postgresql:'].includes(protocol) &&
    password === '' &&
    hash === '' &&
    [...searchParams.keys()].every((name) => name === 'host')
  )
}
