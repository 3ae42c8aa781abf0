import { parseDataPath, planDocument, type DocumentPlan, type Snapshot } from '../../rego/index.js'

/** Callers choose the paths, so the memory of them is bounded. */
const MAX_PATHS = 4096
const MAX_LENGTH = 1024

const plans = new WeakMap<Snapshot, Map<string, DocumentPlan>>()

/** How a path as sent (without a leading slash) is answered, remembered as long as the snapshot lives. */
export function planFor(snapshot: Snapshot, rawPath: string): DocumentPlan {
  const known = rememberedPlan(snapshot, rawPath)
  if (known !== undefined) return known
  const plan = planDocument(snapshot, parseDataPath(rawPath))
  if (rawPath.length <= MAX_LENGTH) remember(snapshot, rawPath, plan)
  return plan
}

/** Whoever asks for many paths must not keep those of others from being remembered: the oldest one goes. */
function remember(snapshot: Snapshot, rawPath: string, plan: DocumentPlan): void {
  const known = plans.get(snapshot) ?? new Map<string, DocumentPlan>()
  plans.set(snapshot, known)
  const [oldest] = known.size < MAX_PATHS ? [] : known.keys()
  if (oldest !== undefined) known.delete(oldest)
  known.set(rawPath, plan)
}

/** The plan for a path that was asked before. */
export function rememberedPlan(snapshot: Snapshot, rawPath: string): DocumentPlan | undefined {
  return plans.get(snapshot)?.get(rawPath)
}
