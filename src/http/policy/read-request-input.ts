import { locateInput } from '../../lib/json/locate-input.js'
import type { Snapshot } from '../../pdp/snapshot.js'
import { rememberedPlan } from './plan-cache.js'

/**
 * The `input` of a Data API body (UTF-8), or undefined where there is none, or null. Where the module that answers the path is
 * known, its memory takes the input in at once, ready for the next evaluation. Raises the errors of `locateInput`.
 */
export function readRequestInput(
  snapshot: Snapshot,
  rawPath: string,
  body: Uint8Array,
): Uint8Array | undefined {
  const taken = rememberedPlan(snapshot, rawPath)?.target?.entrypoint.module.readRequest(body)
  if (taken !== undefined) return taken
  const extent = locateInput(body)
  return extent === undefined ? undefined : body.subarray(extent.start, extent.end)
}
