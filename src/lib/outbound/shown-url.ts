import { REDACTION_MARK } from '../redaction/redacted.js'

/**
 * A URL as it may be shown, logged and kept in the trail: user name, password, the values of the query and the fragment are
 * replaced, for they may be credentials; the names in the query stay. One without these comes back as it is, and all that is no
 * absolute URL is replaced as a whole.
 */
export function shownUrl(url: string): string {
  if (!URL.canParse(url)) return REDACTION_MARK
  const { protocol, username, password, host, pathname, search, hash } = new URL(url)
  if ([username, password, search, hash].every((part) => part === '')) return url
  const user = username === '' && password === '' ? '' : `${REDACTION_MARK}@`
  const fragment = hash === '' ? '' : `#${REDACTION_MARK}`
  return `${protocol}//${user}${host}${pathname}${shownQuery(search)}${fragment}`
}

/** A part without a name or without a value is replaced too: it may be the key itself, as in `?AbC123` and `?QWJD=`. */
function shownQuery(search: string): string {
  return search.replaceAll(/(?<=[?&;])(?<name>[^&;=]*=(?=[^&;=]))?[^&;]+/g, `$<name>${REDACTION_MARK}`)
}
