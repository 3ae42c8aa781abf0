import type { Definition } from '../orchestrator/definition.js'
import { redactSecrets } from '../lib/redaction/redact.js'

/** The definition as `redactSecrets` leaves it; the very one where it holds no secret. Raises `invalid` for one nested too deeply. */
export function withoutSecrets(definition: Definition): Definition {
  const json = Buffer.from(JSON.stringify(definition))
  const { text } = redactSecrets(json)
  return text === json ? definition : (JSON.parse(text.toString()) as Definition)
}
