/** Form of a server URL, as the end of the sentence "must be …". */
export const SERVER_URL_TEXT = 'an http or https URL without user name, password, query and fragment'

/** Whether a text is the base URL of an API, without credentials or a query. */
export function isServerUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password, search, hash } = new URL(text)
  return (
    ['http:', 'https:'].includes(protocol) && [username, password, search, hash].every((part) => part === '')
  )
}

/**
 * Environment variables of commands that call a running service. They are not keys of the
 * configuration.
 */
export const CLIENT_VARIABLES = {
  url: 'TIDEGATE_URL',
  token: 'TIDEGATE_TOKEN',
  ca: 'TIDEGATE_CA_FILE',
  certificate: 'TIDEGATE_CLIENT_CERTIFICATE',
  key: 'TIDEGATE_CLIENT_KEY',
} as const

/**
 * Alternative download location for `tidegate opa install`. It is not a key of the configuration.
 */
export const OPA_DOWNLOADS_VARIABLE = 'TIDEGATE_OPA_DOWNLOADS'
