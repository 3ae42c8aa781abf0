import { createHash } from 'node:crypto'

import { canonicalJson } from '../../lib/json/edit/canonical.js'
import type { Definition } from '../../orchestrator/definition.js'

/**
 * Members that the storage service maintains itself or omits from lists. `schema` is "1" for a
 * pipeline without one, and `permissions` are only listed for some callers.
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
 * SHA-256 in hex of a definition, regardless of the order of members, of null members and of
 * members that the storage service maintains. So a pipeline has the same digest as sent and as
 * listed.
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
