import type { Registry } from 'prom-client'
import { judgeStage } from '../distribution/judge-stage.js'
import type { StageBounds, StageCounts } from '../distribution/judge-stage.js'
import type { RevisionControl } from '../distribution/revision-control.js'
import { toError } from '../errors/app-error.js'
import { addShadowMetrics, addStageMetrics } from '../http/metrics/shadow-metrics.js'
import { impactOf, countChanges } from '../impact/impact-result.js'
import type { ImpactRuns } from '../impact/impact-runs.js'
import type { ShadowView } from '../impact/shadow-view.js'
import type { Logger } from '../lib/logger.js'
import type { Policies, RevisionImpact } from '../rego/index.js'
import type { PolicyException } from '../store/ports/exception-store.js'
import type { OnStop } from './close-parts.js'
import { openImpact } from './open-impact.js'
import type { Stages } from './open-policies.js'
import type { KnownImpact } from './open-sources.js'
import type { Reloads } from './reload/reloads.js'
import { ShadowThread } from './shadow-thread.js'
import type { ShadowProgress } from './threads/shadow-thread.js'

interface ShadowParts {
  readonly policies: Pick<Policies, 'current'>
  readonly exceptions: () => readonly PolicyException[]
  readonly logger: Logger
  readonly registry: Registry
}

/**
 * Starts the thread that evaluates decisions again with `policies.shadow`, after they were answered
 * and stored. It starts again when other policies serve, and a minute after a failure. Undefined
 * without a shadow.
 */
function openShadow(
  reloads: Pick<Reloads, 'config'>,
  parts: ShadowParts,
  onStop: OnStop,
): (() => ShadowView) | undefined {
  const { directories, bundles } = reloads.config.policies.shadow
  if (directories.length + bundles.length === 0) return undefined
  const { policies, exceptions, logger } = parts
  const shadow = new ShadowThread({
    ...{ reloads, exceptions },
    compared: () => ({ serving: policies.current, staged: undefined }),
    failed: (error) =>
      logger.error({ error }, 'the shadow of the policies does not run; it is started again in a minute'),
  })
  onStop('shadow', () => shadow.close())
  addShadowMetrics(parts.registry, () => shadow.view)
  return () => shadow.view
}

interface ComparisonParts extends Pick<ShadowParts, 'policies' | 'logger'> {
  readonly policies: Policies
  readonly enforcing: Pick<ShadowParts, 'exceptions'>
  readonly metrics: Pick<ShadowParts, 'registry'>
  readonly knownImpact: KnownImpact
  readonly control: RevisionControl
  readonly stages: Stages
}

/** Comparisons of policies with those that serve. */
export interface Comparisons {
  readonly impact: ImpactRuns
  /** Undefined without a shadow. */
  readonly shadow: (() => ShadowView) | undefined
  readonly stage: OpenStage
}

/** Sets up comparisons on demand, the shadow, and the judgement of stages, whose results are part of activations. */
export function openComparisons(
  reloads: Pick<Reloads, 'config'>,
  {
    policies,
    logger,
    enforcing: { exceptions },
    metrics: { registry },
    knownImpact,
    control,
    stages,
  }: ComparisonParts,
  onStop: OnStop,
): Comparisons {
  const impact = openImpact(reloads, { policies, exceptions, logger }, onStop)
  const shadow = openShadow(reloads, { policies, exceptions, logger, registry }, onStop)
  addStageMetrics(registry, stages.ended)
  const stage = openStage(reloads, { policies, exceptions, logger, control }, onStop)
  knownImpact.find = (revision) => {
    const staged = stage.impactOf(revision)
    if (staged !== undefined) return staged
    const shadowed = shadow?.().result
    if (shadowed?.candidate.revision === revision) return impactOf('shadow', shadowed)
    const result = impact.resultOf(revision)
    return result && impactOf('impact', result)
  }
  return { impact, shadow, stage }
}

interface StageParts {
  readonly policies: Policies
  readonly exceptions: () => readonly PolicyException[]
  readonly logger: Logger
  readonly control: Pick<RevisionControl, 'endStage'>
}

/** The state of the staged policies. */
interface OpenStage {
  /** The counts so far; undefined before the first ones. */
  readonly counts: () => StageCounts | undefined
  /** When a stage ends by itself. */
  readonly bounds: () => StageBounds
  /** Why the staged policies are not compared. */
  readonly problem: () => string | undefined
  /** Returns the comparison of a staged revision, also after its stage. */
  readonly impactOf: (revision: string) => RevisionImpact | undefined
}

/** Compares staged policies with those that serve, and promotes them or takes them back. */
function openStage(
  reloads: Pick<Reloads, 'config'>,
  { policies, exceptions, logger, control }: StageParts,
  onStop: OnStop,
): OpenStage {
  let last: { readonly revision: string; readonly impact: RevisionImpact } | undefined
  let isEnding = false
  const checked = (progress: ShadowProgress | undefined): void => {
    const { staged } = policies
    if (staged === undefined || progress === undefined || isEnding) return
    const counts = countsOf(progress)
    last = {
      revision: staged.snapshot.revision,
      impact: { ...impactOf('stage', progress.result), ...counts },
    }
    const verdict = judgeStage(reloads.config.policies.staged, counts, Date.now() - staged.since.getTime())
    if (verdict === undefined) return
    isEnding = true
    const actor = { user: undefined, origin: 'stage', nowMs: Date.now() }
    control
      .endStage(verdict, actor, staged.snapshot)
      .catch((raw: unknown) =>
        logger.error({ error: toError(raw).message, ...verdict }, 'the stage of the policies does not end'),
      )
      .finally(() => (isEnding = false))
  }
  const thread = new ShadowThread({
    ...{ reloads, exceptions, checked },
    compared: () => policies.staged && { serving: policies.current, staged: policies.staged },
    failed: (error) =>
      logger.error({ error }, 'the staged policies are not compared; this is tried again in a minute'),
  })
  onStop('stage of policies', () => thread.close())
  return {
    counts: () => thread.progress && countsOf(thread.progress),
    bounds: () => reloads.config.policies.staged,
    problem: () => thread.view.error,
    impactOf: (revision) => (last?.revision === revision ? last.impact : undefined),
  }
}

function countsOf({ result, failed }: ShadowProgress): StageCounts {
  const { errors, flips } = countChanges(result)
  return { compared: result.compared.total, flips, errors: errors + failed }
}
