import { redactSecrets } from '../../lib/redaction/redact.js'

/**
 * A plan or a definition, given as JSON text, as people see it: without secrets that stand in queries, templates and scopes. Its
 * numbers stay, for weights are named by their groups.
 */
export function shownDocument(json: string): unknown {
  return JSON.parse(redactSecrets(Buffer.from(json), { keepsNumbers: true }).text.toString())
}
