import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'

import { AppError, toAppError } from '../../errors/app-error.js'
import { changedBetween } from '../../impact/changed-parts.js'
import { decisionCases, inputCases, pipelineCases, readPipelines } from '../../impact/cases.js'
import type { ImpactProgress } from '../../impact/impact-runs.js'
import { SERVING, storedInputs } from '../../impact/impact-request.js'
import type { SentPolicies } from '../../impact/impact-request.js'
import type { ImpactResult, RevisionView } from '../../impact/impact-result.js'
import type { AffectedPackages, CompareCases } from '../../impact/compare-cases.js'
import type { ImpactTally } from '../../impact/impact-tally.js'
import type { NotReplayable, ReplayCase } from '../../impact/replay-case.js'
import { runImpact } from '../../impact/run-impact.js'
import { stagePolicies } from '../../impact/stage-policies.js'
import {
  hostBuiltins,
  loadSnapshot,
  packSnapshot,
  publicNames,
  unpackSnapshot,
  withFiles,
  withPublicNames,
  type KeptRevision,
  type KeptRevisions,
  type KeptSources,
  type PolicyLocations,
  type RevisionSources,
  type Snapshot,
} from '../../rego/index.js'
import { operationRegistry } from '../../store/ports/operation.js'
import type { Readers } from '../../store/ports/readers.js'
import { openRevisions } from '../open-explanations.js'
import { openReader, openStoredDecisions } from '../store/open-store.js'
import { EvaluatorThreads } from './evaluator-threads.js'
import { candidateOptions } from './load-candidate.js'
import type { ImpactThreadOptions } from '../threads/impact-thread.js'

/** After this the run ends with a partial result. */
const RUN_MS = 15 * 60_000
const PROGRESS_MS = 500

/**
 * Compares the candidate of a request with the revision that it names, over stored and sent inputs.
 * Raises `invalid` for policies that do not compile, `not_found` for an unknown revision, and
 * `unavailable` for inputs that cannot be read.
 */
export async function compareRevisions(
  options: ImpactThreadOptions,
  progress: (progress: ImpactProgress) => void,
): Promise<ImpactResult> {
  const { request, config } = options
  const { staticPackages, strictBuiltinErrors, levels } = config.policies
  const after = await loadSent(request.policies, 'candidate', options)
  const before = await loadOther(options)
  const endMs = performance.now() + RUN_MS
  let reportedMs = 0
  const report = (tally: ImpactTally): void => {
    if (performance.now() - reportedMs < PROGRESS_MS) return
    reportedMs = performance.now()
    progress({ phase: 'evaluating', seen: tally.seen, flips: tally.flips })
  }
  progress({ phase: 'evaluating', seen: 0, flips: 0 })
  const settings = { staticPackages, strictBuiltinErrors, levels, exceptions: options.exceptions }
  let threads: EvaluatorThreads | undefined
  const startThreads = (affected: AffectedPackages): CompareCases => {
    const sides = { before: packSnapshot(before.snapshot), after: packSnapshot(after.snapshot) }
    threads = new EvaluatorThreads({ ...sides, affected, settings, limits: config.policies.limits })
    return threads.compare
  }
  try {
    const { tally, isPartial, notes } = await runImpact(casesOf(options), {
      ...{ before: before.snapshot, after: after.snapshot, maxCases: request.limit, progress: report },
      isChanged: changedBetween(before.sources, after.sources),
      isOver: () => performance.now() > endMs,
      ...{ settings, startThreads },
    })
    return tally.result({ candidate: after.view, against: before.view, isPartial, notes })
  } finally {
    await threads?.close()
  }
}

/** A revision with its sources, if they are known. */
interface LoadedRevision {
  readonly snapshot: Snapshot
  readonly view: RevisionView
  readonly sources: KeptSources | undefined
}

/** Compiles and loads sent policies. Raises `invalid` with every problem. */
async function loadSent(
  sent: SentPolicies,
  role: 'candidate' | 'against',
  { config, directory, serving, nowMs }: ImpactThreadOptions,
): Promise<LoadedRevision> {
  if (sent.changes !== undefined) {
    const kept = await keptSources(openRevisions(config), serving.revision, {
      serving: serving.revision,
      nowMs,
    })
    const rego = withFiles(kept.rego, sent.changes)
    const sources = { rego, data: kept.data, leftOut: { rego: [], data: [] } }
    return await load({ directories: [], bundles: [], sources }, sent.name ?? role, config)
  }
  const folder = join(directory, role)
  await mkdir(folder)
  const locations = await stagePolicies(sent, folder)
  const names = publicNames(locations.directories, locations.bundles)
  try {
    return await load(locations, sent.name ?? role, config)
  } catch (raw) {
    throw withPublicNames(toAppError(raw), names)
  }
}

async function load(
  locations: PolicyLocations,
  name: string,
  config: ImpactThreadOptions['config'],
): Promise<LoadedRevision> {
  let sources: RevisionSources | undefined
  const keepSources = (loaded: RevisionSources): void => void (sources = loaded)
  const snapshot = await loadSnapshot(locations, { ...candidateOptions(config), keepSources })
  const warnings = snapshot.warnings.map(({ code, message }) => ({ code, message }))
  return {
    snapshot,
    view: { name, revision: snapshot.revision, warnings },
    sources: sources && { ...sources, dataBytesLeftOut: 0 },
  }
}

/** Loads the policies that serve, or a stored revision, or other sent policies. */
async function loadOther(options: ImpactThreadOptions): Promise<LoadedRevision> {
  const { request, serving, config, nowMs } = options
  const { against } = request
  if (typeof against !== 'string') return await loadSent(against, 'against', options)
  const revisions = openRevisions(config)
  if (against === SERVING || against === serving.revision) {
    const snapshot = await unpackSnapshot(serving, hostBuiltins, config.policies.limits)
    const sources = await revisions.read(serving.revision, nowMs)
    return { snapshot, sources, view: { name: SERVING, revision: snapshot.revision, warnings: [] } }
  }
  const kept = await keptSources(revisions, against, { serving: serving.revision, nowMs })
  const sources = { rego: kept.rego, data: kept.data, leftOut: { rego: [], data: [] } }
  const { snapshot, view } = await load({ directories: [], bundles: [], sources }, against, config)
  return { snapshot, sources: kept, view: { ...view, revision: against } }
}

/** Returns all sources of a revision. Raises `not_found`, and `conflict` if some are missing. */
async function keptSources(
  revisions: KeptRevisions,
  wanted: string,
  { serving, nowMs }: { readonly serving: string; readonly nowMs: number },
): Promise<KeptSources> {
  const kept = await revisions.read(wanted, nowMs)
  if (kept === undefined) throw unknownRevision(wanted, serving, await revisions.served())
  refuseIncomplete(kept)
  return kept
}

/** Stored revisions that an error names. */
const MAX_NAMED = 10

function unknownRevision(wanted: string, serving: string, stored: readonly KeptRevision[]): AppError {
  const names = new Set(stored.map(({ revision }) => revision))
  names.delete(serving)
  const others = [...names].slice(0, MAX_NAMED)
  const named = others.length === 0 ? 'No other one is stored' : `Stored ones are ${others.join(', ')}`
  return new AppError(
    'not_found',
    `Revision ${wanted} is not stored. ${named}; the policies that serve have revision ${serving}. Compare with one of them, or send other policies as directories or a bundle.`,
    { code: 'revision_gone' },
  )
}

function refuseIncomplete({ revision, withoutRego, dataBytesLeftOut }: KeptSources): void {
  const missing = dataBytesLeftOut > 0 ? `its data (${dataBytesLeftOut} bytes)` : withoutRego.join(', ')
  if (missing === '') return
  throw new AppError(
    'conflict',
    `Revision ${revision} is stored without ${missing}, so it cannot be compared. Send its policies instead.`,
    { code: 'incomplete_revision' },
  )
}

async function* casesOf(options: ImpactThreadOptions): AsyncGenerator<ReplayCase | NotReplayable> {
  const { request, nowMs, store: location } = options
  const { application, since, until, inputs } = request
  const over = storedInputs(request)
  yield* inputCases(inputs, nowMs)
  if (over.includes('pipelines')) {
    const { reader, close } = await openReader(location, operationRegistry<Readers>([readPipelines]))
    try {
      yield* pipelineCases(reader, application, nowMs)
    } finally {
      await close()
    }
  }
  if (over.includes('decisions')) {
    if (!options.hasDecisions) throw noDecisions()
    const store = await openStoredDecisions(location, options.config.dataDir)
    const fromMs = since === undefined ? undefined : Date.parse(since)
    const toMs = until === undefined ? undefined : Date.parse(until)
    try {
      yield* decisionCases(store, { application, fromMs, toMs })
    } finally {
      await store.close()
    }
  }
}

function noDecisions(): AppError {
  return new AppError(
    'not_found',
    'The decision log is disabled. Set decisions.enabled, or compare pipelines.',
  )
}
