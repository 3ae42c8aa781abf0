import { createHash } from 'node:crypto'

import { canonicalJson } from '../../lib/json/edit/canonical.js'
import type { Definition } from '../../orchestrator/definition.js'

/**
 * What the storage service writes on its own or leaves out of a listing: `schema` is "1" when a pipeline has none, and
 * `permissions` are listed for callers with rights of their own only.
 */
const BOOKKEEPING: ReadonlySet<string> = new Set([
  'id',
  'createTs',
  'updateTs',
  'lastModified',
  'lastModifiedBy',
  'permissions',
])

/**
 * SHA-256 in hexadecimal of what a definition means: the same for two that differ only in the order of members, in null members
 * and in what the storage service keeps the books with. So a pipeline as it was sent and as it is listed afterwards are one.
 */
export function definitionDigest(definition: Definition): string {
  const members = Object.entries(definition).filter(
    ([name, value]) => value !== null && !BOOKKEEPING.has(name) && !(name === 'schema' && value === '1'),
  )
  const json = Buffer.from(JSON.stringify(Object.fromEntries(members)))
  return createHash('sha256')
    .update(canonicalJson(json, 0, json.length))
    .digest('hex')
}
