import type { Snapshot } from '../snapshot/snapshot.js'
import { questionOf } from './package-question.js'
import { packageMatcher } from './select-packages.js'

/** Which packages answer other questions than those of a running pipeline. */
export interface OtherPackages {
  readonly staticPackages: readonly string[]
  /** The path evaluated by default. */
  readonly defaultDecision: string
}

/** The packages of the configuration, and the path segments that stages may use. */
const NAMEABLE = /^[\w-]+(?:\/[\w-]+)*$/

/** The paths below `data` of the packages that state verdicts on a running pipeline, sorted. */
export function runtimePolicies(
  snapshot: Snapshot,
  { staticPackages, defaultDecision }: OtherPackages,
): readonly string[] {
  const isStatic = packageMatcher(staticPackages)
  const isDefault = (key: string): boolean => `${defaultDecision.replace(/^\//, '')}/`.startsWith(`${key}/`)
  return snapshot.packages.filter(
    (key) =>
      NAMEABLE.test(key) && !isStatic(key) && !isDefault(key) && questionOf(snapshot, key).parts.length > 0,
  )
}
