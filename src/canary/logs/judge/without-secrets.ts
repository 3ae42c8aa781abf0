import { redactInline, withoutCutSecret } from '../../../lib/redaction/inline-secrets.js'

const CUT_MARK = '…'

/** A text that others wrote into their log as reports, chats and callbacks may have it: without the secrets that are told by their form. */
export function withoutSecrets(text: string): string {
  const shown = redactInline(text)?.text ?? text
  return shown.endsWith(CUT_MARK) ? `${withoutCutSecret(shown.slice(0, -1))}${CUT_MARK}` : shown
}
