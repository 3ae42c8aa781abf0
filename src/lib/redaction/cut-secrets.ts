import { asBuffer } from '../bytes.js'
import { decodeString } from '../json/scan/decode-string.js'
import { scanString } from '../json/scan/scan-string.js'
import type { Cut } from './find-secrets.js'
import { redactText } from './redact-text.js'
import type { TextSurroundings } from './redact-text.js'

/**
 * Whether a JSON text without signs may hold a secret that only its cut hides: a value whose label was cut off, or the beginning of a secret
 * in the text that was cut. Raises the errors of `scanString`.
 */
export function mayHoldSecretAtCut(
  json: Uint8Array,
  { containers }: Cut,
  surroundings: Pick<TextSurroundings, 'redactEmbedded' | 'embeddings'>,
): boolean {
  if (containers.hasValue) return true
  if (!containers.isInText) return false
  const { textFrom } = containers
  const text = asBuffer(decodeString(json, textFrom, scanString(json, textFrom)))
  return redactText(text, { ...surroundings, known: [], isCut: true }) !== undefined
}
