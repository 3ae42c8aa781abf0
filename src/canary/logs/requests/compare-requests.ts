import { refusedMore } from './refused.js'
import type { RequestTable } from './request-table.js'
import type { RequestDoubt } from './request-doubt.js'
import { slower } from './slower.js'
import { strataOf } from './strata.js'

/**
 * What the access logs of both sides say that neither a level nor a status of 500 does: many more requests refused, and
 * requests that take much longer. Both are compared by route, so that another mix of requests is no change.
 */
export function compareRequests(baseline: RequestTable, canary: RequestTable): readonly RequestDoubt[] {
  const strata = strataOf(baseline, canary)
  return [refusedMore(strata), slower(strata)].filter((doubt) => doubt !== undefined)
}
