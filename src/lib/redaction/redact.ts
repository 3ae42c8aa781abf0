import { replaceExtents } from '../json/replace-extents.js'
import { findSecrets } from './find-secrets.js'
import type { Redacted } from './redacted.js'
import { mayHoldSecrets } from './secret-names.js'

/** Texts of JSON inside texts of JSON are followed so far; what is deeper and may hold a secret is redacted whole. */
const MAX_EMBEDDINGS = 8

/**
 * The JSON text with `"[redacted]"` in place of the value of each member named like a secret, at any depth, and of each secret
 * request header; inside texts of JSON (flattened events) and Base64 of JSON (pipelines) as well. The rest is kept byte for byte,
 * and the very bytes are given where there is no secret. True, false, null and empty values stay. `names` holds each name once.
 * Raises `invalid` for what is no JSON or is nested too deeply.
 */
export function redactSecrets(json: Buffer): Redacted {
  return redactAt(0, json) ?? { text: json, count: 0, names: [] }
}

function redactAt(embeddings: number, json: Buffer): Redacted | undefined {
  if (!mayHoldSecrets(json.toString('latin1'))) return undefined
  const redactEmbedded =
    embeddings < MAX_EMBEDDINGS ? (inner: Buffer) => redactAt(embeddings + 1, inner) : undefined
  const secrets = findSecrets(json, redactEmbedded)
  if (secrets.length === 0) return undefined
  return {
    text: replaceExtents(json, secrets),
    count: secrets.reduce((sum, { count }) => sum + count, 0),
    names: [...new Set(secrets.flatMap(({ names }) => names))].sort(),
  }
}
