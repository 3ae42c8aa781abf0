/** What `isServerUrl` takes, as the end of the sentence "must be …". */
export const SERVER_URL_TEXT = 'an http or https URL without user name, password, query and fragment'

/** Whether a text is the URL of a server, below which its API is: credentials and queries are elsewhere. */
export function isServerUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password, search, hash } = new URL(text)
  return (
    ['http:', 'https:'].includes(protocol) && [username, password, search, hash].every((part) => part === '')
  )
}

/** Environment variables of the commands that talk to a running service; they set no key of the configuration. */
export const CLIENT_VARIABLES = {
  url: 'TIDEGATE_URL',
  token: 'TIDEGATE_TOKEN',
  ca: 'TIDEGATE_CA_FILE',
  certificate: 'TIDEGATE_CLIENT_CERTIFICATE',
  key: 'TIDEGATE_CLIENT_KEY',
} as const

/** Where `tidegate opa install` downloads from instead of the official address; it sets no key of the configuration either. */
export const OPA_DOWNLOADS_VARIABLE = 'TIDEGATE_OPA_DOWNLOADS'
