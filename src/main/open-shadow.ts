import type { Registry } from 'prom-client'
import type { RevisionControl } from '../distribution/revision-control.js'
import { addShadowMetrics, addStageMetrics } from '../http/metrics/shadow-metrics.js'
import { impactOf } from '../impact/impact-result.js'
import type { ImpactRuns } from '../impact/impact-runs.js'
import type { ShadowView } from '../impact/shadow-view.js'
import type { Logger } from '../lib/logger.js'
import type { Policies } from '../rego/index.js'
import type { PolicyException } from '../store/ports/exception-store.js'
import type { OnStop } from './close-parts.js'
import { openImpact } from './open-impact.js'
import type { KnownImpact } from './open-sources.js'
import type { Stages } from './open-policies.js'
import { openStage } from './open-stage.js'
import type { OpenStage } from './open-stage.js'
import type { Reloads } from './reload/reloads.js'
import { ShadowThread } from './shadow-thread.js'

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
