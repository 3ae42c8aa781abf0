import { replaceExtents } from '../json/edit/replace-extents.js'
import { findSecrets } from './find-secrets.js'
import type { Cut } from './find-secrets.js'
import { redactText } from './redact-text.js'
import type { EmbeddedRedactor, TextSurroundings } from './redact-text.js'
import type { Redacted } from './redacted.js'
import { findSigns } from './secret-signs.js'
import { asBuffer } from '../bytes.js'
import { decodeString } from '../json/scan/decode-string.js'
import { scanString } from '../json/scan/scan-string.js'

/** What is known of a JSON text beside itself. */
export interface Surroundings {
  /** Secrets of other texts that this one may quote, none of them empty. */
  readonly known?: readonly string[]
  /** Where the text was cut, if it was. */
  readonly cut?: Cut
  /** Numbers stay whatever their names are, for readers that count with them. */
  readonly keepsNumbers?: boolean
}

/**
 * The JSON text with `"[redacted]"` in place of the value of each member named like a secret, at any depth, and of each secret
 * header; inside texts of JSON (flattened events) and Base64 (pipelines, files) as well. Inside other texts what is a secret by its form is
 * replaced: credentials in URLs, tokens, keys, `password=…`. The rest is kept byte for byte, and the very bytes are given where there is no
 * secret. True, false, null and empty values stay. `names` holds each name once. Raises `invalid` for what is no JSON or is nested too deeply.
 */
export function redactSecrets(json: Buffer, surroundings: Surroundings = {}): Redacted {
  return redactAt(0, json, surroundings) ?? { text: json, count: 0, names: [], values: [] }
}

function redactAt(
  embeddings: number,
  json: Buffer,
  { known = [], cut, keepsNumbers = false }: Surroundings,
): Redacted | undefined {
  const signs = findSigns(json)
  const redactEmbedded: EmbeddedRedactor = (inner, depth) => redactAt(depth, inner, { known, keepsNumbers })
  const isQuiet = known.length === 0 && signs.length === 0
  if (isQuiet && (cut === undefined || !mayHoldSecretAtCut(json, cut, { redactEmbedded, embeddings })))
    return undefined
  const secrets = findSecrets(json, { signs, redactEmbedded, embeddings, known, cut, keepsNumbers })
  if (secrets.length === 0) return undefined
  return {
    text: replaceExtents(json, secrets),
    count: secrets.reduce((sum, { count }) => sum + count, 0),
    names: [...new Set(secrets.flatMap(({ names }) => names))].sort(),
    values: secrets.flatMap(({ values }) => values),
  }
}

/**
 * Whether a JSON text without signs may hold a secret that only its cut hides: a value whose label was cut off, or the beginning of a secret
 * in the text that was cut. Raises the errors of `scanString`.
 */
function mayHoldSecretAtCut(
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
