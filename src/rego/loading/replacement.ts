import { AppError } from '../../errors/app-error.js'
import type { PolicySources } from '../compile/collect-sources.js'
import type { Staged } from '../evaluation/choose-snapshot.js'
import type { RevisionSources } from '../revisions/kept-revisions.js'
import type { Snapshot } from '../snapshot/snapshot.js'
import type { WrittenPolicies } from '../writing/written-policies.js'
import type { LoadOptions, PolicyLocations } from './load-snapshot.js'

/** The options of all loads. */
export interface PoliciesOptions extends LoadOptions {
  /** Returns the percentage of requests that new policies answer first; undefined for all. */
  readonly stageShare?: () => number | undefined
}

/** A change of the policies by a client. */
export interface PolicyChange {
  /** Returns what is written with the change; the given value if nothing changes. May throw. */
  readonly apply: (current: Snapshot, written: WrittenPolicies) => WrittenPolicies
  /** Called with the compiled policies before they serve. If it rejects, nothing changes. */
  readonly record: (next: Snapshot, before: Snapshot) => Promise<void>
}

/** Calls while other policies replace those that serve. */
export interface ReplacementSteps {
  /** Called before they serve. If it rejects, nothing changes. */
  readonly record?: ((next: Snapshot) => Promise<void>) | undefined
  /** Called if they do not serve although `record` resolved. */
  readonly undo?: () => Promise<void>
  /** Called when they serve. Never rejects. */
  readonly served?: () => Promise<void>
  /** Called if their stage ends and they do not serve; with the reason if they were taken back. */
  readonly dropped?: (reason: AppError | undefined) => void
}

/** Other policies to load. */
export interface PolicyMove extends ReplacementSteps {
  readonly locations: PolicyLocations
  /** Options of this load and later ones. */
  readonly options?: Pick<LoadOptions, 'verification' | 'analysis'>
  /** True to answer a share of requests first, if stages are configured. */
  readonly isStaged?: boolean
}

/** The stored sources of a revision that serves in place of the locations. */
export interface PinnedSources {
  readonly revision: string
  readonly rego: PolicySources['rego']
  readonly data: PolicySources['data']
}

/** Loaded policies that do not serve yet. */
export interface LoadedPolicies {
  readonly snapshot: Snapshot
  readonly locations: PolicyLocations
  readonly pinned: PinnedSources | undefined
  readonly written: WrittenPolicies | undefined
  readonly sources: RevisionSources | undefined
  readonly steps: ReplacementSteps
  readonly durationMs: number
}

/** Loaded policies that answer a share of requests. */
export interface Stage extends Staged, LoadedPolicies {
  readonly since: Date
}

/** How a stage ended: `replaced` by other policies, or taken back for a reason. */
export type StageEnd = 'promoted' | 'replaced' | AppError

export function pinnedLocations(pinned: PinnedSources | undefined): PolicyLocations | undefined {
  if (pinned === undefined) return undefined
  const { revision, rego, data } = pinned
  const sources = { rego, data, leftOut: { rego: [], data: [] } }
  return { directories: [], bundles: [], revision, sources }
}

/** Raises `conflict` for a pinned revision. */
export function refuseIfPinned(pinned: PinnedSources | undefined): void {
  if (pinned === undefined) return
  throw new AppError(
    'conflict',
    `the policies are pinned to revision ${pinned.revision}: unpin them first (tidegate policies unpin)`,
    { code: 'policies_pinned' },
  )
}

/** Raises `conflict` for a staged revision. */
export function refuseIfStaged(staged: Staged | undefined): void {
  if (staged === undefined) return
  throw new AppError(
    'conflict',
    `revision ${staged.snapshot.revision} is staged: promote or abandon it first (tidegate policies promote, tidegate policies abandon)`,
    { code: 'policies_staged' },
  )
}
