import type { Snapshot } from '../snapshot/snapshot.js'
import { questionOf } from './package-question.js'
import { packageMatcher } from './select-packages.js'

/** Packages that are not for running pipelines. */
export interface OtherPackages {
  readonly staticPackages: readonly string[]
  /** The path evaluated by default. */
  readonly defaultDecision: string
}

/** The packages of the configuration, and the path segments that stages may use. */
const NAMEABLE = /^[\w-]+(?:\/[\w-]+)*$/

/** Returns the paths of packages with verdicts on running pipelines, sorted. */
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
