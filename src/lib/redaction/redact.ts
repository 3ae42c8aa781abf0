import { replaceExtents } from '../json/edit/replace-extents.js'
import { findSecrets } from './find-secrets.js'
import type { Cut } from './find-secrets.js'
import { redactText } from './redact-text.js'
import type { EmbeddedRedactor, TextSurroundings } from './redact-text.js'
import type { Redacted } from './redacted.js'
import { findCandidates } from './secret-patterns.js'
import { asBuffer } from '../bytes.js'
import { decodeString } from '../json/scan/decode-string.js'
import { scanString } from '../json/scan/scan-string.js'

export interface Surroundings {
  /** Known secrets of other texts that this one may quote. None may be empty. */
  readonly known?: readonly string[]
  /** Where the text was truncated, if it was. */
  readonly cut?: Cut
  /**
   * Whether numbers are never redacted, whatever their name, for readers that calculate with them.
   */
  readonly keepsNumbers?: boolean
}

/**
 * Redacts a JSON text. Replaces the values of members with secret names and of secret headers by
 * `"[redacted]"` at any depth, including JSON (flattened events) and Base64 (pipelines, files)
 * inside strings. In other strings it replaces secrets recognized by their form: credentials in
 * URLs, tokens, keys, `password=…`. All other bytes stay, and the same bytes are returned if there
 * is no secret. True, false, null and empty values are not replaced. `names` contains each name
 * once. Throws `invalid` for malformed or too deeply nested JSON.
 */
export function redactSecrets(json: Buffer, surroundings: Surroundings = {}): Redacted {
  return redactAt(0, json, surroundings) ?? { text: json, count: 0, names: [], values: [] }
}

function redactAt(
  embeddings: number,
  json: Buffer,
  { known = [], cut, keepsNumbers = false }: Surroundings,
): Redacted | undefined {
  const candidates = findCandidates(json)
  const redactEmbedded: EmbeddedRedactor = (inner, depth) => redactAt(depth, inner, { known, keepsNumbers })
  const isQuiet = known.length === 0 && candidates.length === 0
  if (isQuiet && (cut === undefined || !mayHoldSecretAtCut(json, cut, { redactEmbedded, embeddings })))
    return undefined
  const secrets = findSecrets(json, { candidates, redactEmbedded, embeddings, known, cut, keepsNumbers })
  if (secrets.length === 0) return undefined
  return {
    text: replaceExtents(json, secrets),
    count: secrets.reduce((sum, { count }) => sum + count, 0),
    names: [...new Set(secrets.flatMap(({ names }) => names))].sort(),
    values: secrets.flatMap(({ values }) => values),
  }
}

/**
 * Whether a truncated JSON text without candidates may contain a secret: a value whose label is
 * missing, or the start of a secret in the truncated string. Throws as `scanString`.
 */
function mayHoldSecretAtCut(
  json: Uint8Array,
  { containers }: Cut,
  surroundings: Pick<TextSurroundings, 'redactEmbedded' | 'embeddings'>,
): boolean {
  if (containers.hasValue) return true
  if (!containers.isInString) return false
  const { stringStart } = containers
  const text = asBuffer(decodeString(json, stringStart, scanString(json, stringStart)))
  return redactText(text, { ...surroundings, known: [], isCut: true }) !== undefined
}
