import { REDACTION_MARK } from '../redaction/redacted.js'

/**
 * Removes credentials from a URL for display, logs and the trail: replaces user name, password,
 * query values and fragment, and keeps the names in the query. Returns a URL without these
 * unchanged. Replaces anything but an absolute URL completely.
 */
export function shownUrl(url: string): string {
  if (!URL.canParse(url)) return REDACTION_MARK
  const { protocol, username, password, host, pathname, search, hash } = new URL(url)
  if ([username, password, search, hash].every((part) => part === '')) return url
  const user = username === '' && password === '' ? '' : `${REDACTION_MARK}@`
  const fragment = hash === '' ? '' : `#${REDACTION_MARK}`
  return `${protocol}//${user}${host}${pathname}${shownQuery(search)}${fragment}`
}

/**
 * Replaces a part without a name or a value completely, because it may be the key itself, as in
 * `?AbC123` and `?QWJD=`.
 */
function shownQuery(search: string): string {
  return search.replaceAll(/(?<=[?&;])(?<name>[^&;=]*=(?=[^&;=]))?[^&;]+/g, `$<name>${REDACTION_MARK}`)
}
