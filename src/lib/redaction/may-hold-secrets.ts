import { INLINE_STARTS } from './inline-secrets.js'
import { NAMED_STARTS } from './secret-names.js'

const MAY_HOLD_SECRETS = new RegExp(`${NAMED_STARTS}|${INLINE_STARTS}`, 'i')

/** Whether there can be anything to redact in a JSON text: a quick look that may say yes for nothing, never no for something. */
export function mayHoldSecrets(json: string): boolean {
  return MAY_HOLD_SECRETS.test(json)
}
