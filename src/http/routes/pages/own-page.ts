/** Printable ASCII without a backslash, which browsers read as a slash. */
const PLAIN = /^\/ui(?:[/?][!-[\]-~]*)?$/
/** Slashes, backslashes and dots that only a second decoding shows, as by a proxy. */
const HIDDEN = /%(?:25)*(?:2e|2f|5c)/i
const OWN_PATH = /^\/ui(?:\/|$)/
const BASE = 'http://page.invalid'

/** The path of one of our pages as browsers resolve it; undefined for whatever leads elsewhere. */
export function ownPage(path: string): string | undefined {
  if (!PLAIN.test(path) || !URL.canParse(path, BASE)) return undefined
  const { origin, pathname, search } = new URL(path, BASE)
  if (origin !== BASE || !OWN_PATH.test(pathname) || HIDDEN.test(pathname)) return undefined
  return pathname + search
}
