import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'

import { AppError, toAppError } from '../../errors/app-error.js'
import { decisionCases, inputCases, pipelineCases, readPipelines } from '../../impact/cases.js'
import type { ImpactProgress } from '../../impact/impact-runs.js'
import { SERVING, storedInputs } from '../../impact/impact-request.js'
import type { SentPolicies } from '../../impact/impact-request.js'
import type { ImpactResult, RevisionView } from '../../impact/impact-result.js'
import type { ImpactTally } from '../../impact/impact-tally.js'
import type { NotReplayable, ReplayCase } from '../../impact/replay-case.js'
import { runImpact } from '../../impact/run-impact.js'
import { revisionOf, stagePolicies } from '../../impact/stage-policies.js'
import {
  hostBuiltins,
  loadSnapshot,
  publicNames,
  unpackSnapshot,
  withPublicNames,
  type Snapshot,
} from '../../rego/index.js'
import { operationRegistry } from '../../store/ports/operation.js'
import type { Readers } from '../../store/ports/readers.js'
import { openReader, openStoredDecisions } from '../store/open-store.js'
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
  const { tally, isPartial, notes } = await runImpact(casesOf(options), {
    ...{ before: before.snapshot, after: after.snapshot, maxCases: request.limit, progress: report },
    settings: { staticPackages, strictBuiltinErrors, levels, exceptions: options.exceptions },
    isOver: () => performance.now() > endMs,
  })
  return tally.result({ candidate: after.view, against: before.view, isPartial, notes })
}

interface LoadedRevision {
  readonly snapshot: Snapshot
  readonly view: RevisionView
}

/** Compiles and loads sent policies. Raises `invalid` with every problem. */
async function loadSent(
  sent: SentPolicies,
  role: 'candidate' | 'against',
  { config, directory }: ImpactThreadOptions,
): Promise<LoadedRevision> {
  const folder = join(directory, role)
  await mkdir(folder)
  const locations = await stagePolicies(sent, folder)
  const names = publicNames(locations.directories, locations.bundles)
  try {
    const snapshot = await loadSnapshot(locations, candidateOptions(config))
    const revision = revisionOf(sent) ?? snapshot.revision
    const warnings = snapshot.warnings.map(({ code, message }) => ({ code, message }))
    return { snapshot, view: { name: sent.name ?? role, revision, warnings } }
  } catch (raw) {
    throw withPublicNames(toAppError(raw), names)
  }
}

async function loadOther(options: ImpactThreadOptions): Promise<LoadedRevision> {
  const { request, serving, config } = options
  const { against } = request
  if (typeof against !== 'string') return await loadSent(against, 'against', options)
  if (against !== SERVING && against !== serving.revision) throw unknownRevision(against, serving.revision)
  const snapshot = await unpackSnapshot(serving, hostBuiltins, config.policies.limits)
  return { snapshot, view: { name: SERVING, revision: snapshot.revision, warnings: [] } }
}

function unknownRevision(wanted: string, serving: string): AppError {
  return new AppError(
    'not_found',
    `Revision ${wanted} is not available. The policies that serve have revision ${serving}; send other ones as directories or a bundle.`,
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
