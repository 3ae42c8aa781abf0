import { redactWords } from '../lib/redaction/redact-text.js'
import type { Config } from './config.js'

const SHOWN_HASH_DIGITS = 8

/** Returns the configuration as people may read it: hashes of tokens are shortened. */
export function shownConfig(config: Config): object {
  const tokens = config.auth.tokens.map((token) => ({
    ...token,
    sha256: `${token.sha256.slice(0, SHOWN_HASH_DIGITS)}…`,
  }))
  // URLs of tools may contain a key in their query.
  const accounts = config.connectors.accounts.map((account) => ({
    ...account,
    url: redactWords(account.url),
  }))
  return { ...config, auth: { ...config.auth, tokens }, connectors: { ...config.connectors, accounts } }
}
