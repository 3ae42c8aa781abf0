import { parseDataPath, planDocument, type DocumentPlan, type Snapshot } from '../../rego/index.js'

/** Clients choose the paths, so the cache is bounded. */
const MAX_PATHS = 4096
const MAX_LENGTH = 1024

const plans = new WeakMap<Snapshot, Map<string, DocumentPlan>>()

/**
 * Returns the plan for a raw path without a leading slash. Plans are cached as long as the snapshot
 * lives.
 */
export function planFor(snapshot: Snapshot, rawPath: string): DocumentPlan {
  const known = rememberedPlan(snapshot, rawPath)
  if (known !== undefined) return known
  const plan = planDocument(snapshot, parseDataPath(rawPath))
  if (rawPath.length <= MAX_LENGTH) remember(snapshot, rawPath, plan)
  return plan
}

/** Evicts the oldest path, so that one client with many paths cannot fill the cache permanently. */
function remember(snapshot: Snapshot, rawPath: string, plan: DocumentPlan): void {
  const known = plans.get(snapshot) ?? new Map<string, DocumentPlan>()
  plans.set(snapshot, known)
  const [oldest] = known.size < MAX_PATHS ? [] : known.keys()
  if (oldest !== undefined) known.delete(oldest)
  known.set(rawPath, plan)
}

/** Returns the cached plan of a path. */
export function rememberedPlan(snapshot: Snapshot, rawPath: string): DocumentPlan | undefined {
  return plans.get(snapshot)?.get(rawPath)
}
