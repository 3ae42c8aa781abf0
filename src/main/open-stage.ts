import { judgeStage } from '../distribution/judge-stage.js'
import type { StageCounts } from '../distribution/judge-stage.js'
import type { RevisionControl } from '../distribution/revision-control.js'
import { toError } from '../errors/app-error.js'
import { countChanges, impactOf } from '../impact/impact-result.js'
import type { Logger } from '../lib/logger.js'
import type { Policies, RevisionImpact } from '../rego/index.js'
import type { PolicyException } from '../store/ports/exception-store.js'
import type { OnStop } from './close-parts.js'
import { ShadowThread } from './shadow-thread.js'
import type { Reloads } from './reload/reloads.js'
import type { ShadowProgress } from './threads/shadow-thread.js'

interface StageParts {
  readonly policies: Policies
  readonly exceptions: () => readonly PolicyException[]
  readonly logger: Logger
  readonly control: Pick<RevisionControl, 'endStage'>
}

/** The state of the staged policies. */
export interface OpenStage {
  /** The counts so far; undefined before the first ones. */
  readonly counts: () => StageCounts | undefined
  /** Why the staged policies are not compared. */
  readonly problem: () => string | undefined
  /** Returns the comparison of a staged revision, also after its stage. */
  readonly impactOf: (revision: string) => RevisionImpact | undefined
}

/** Compares staged policies with those that serve, and promotes them or takes them back. */
export function openStage(
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
    problem: () => thread.view.error,
    impactOf: (revision) => (last?.revision === revision ? last.impact : undefined),
  }
}

function countsOf({ result, failed }: ShadowProgress): StageCounts {
  const { errors, flips } = countChanges(result)
  return { compared: result.compared.total, flips, errors: errors + failed }
}
