import { Worker } from 'node:worker_threads'

import type { Registry } from 'prom-client'
import { addShadowMetrics } from '../http/metrics/shadow-metrics.js'
import { impactOf } from '../impact/impact-result.js'
import type { ImpactRuns } from '../impact/impact-runs.js'
import type { ShadowView } from '../impact/shadow-view.js'
import type { Logger } from '../lib/logger.js'
import { threadScript } from '../lib/package-root.js'
import { packSnapshot, type Policies, type Snapshot } from '../rego/index.js'
import type { PolicyException } from '../store/ports/exception-store.js'
import type { OnStop } from './close-parts.js'
import { openImpact } from './open-impact.js'
import type { KnownImpact } from './open-sources.js'
import type { Reloads } from './reload/reloads.js'
import type { ShadowMessage, ShadowThreadOptions } from './threads/shadow-thread.js'

const SCRIPT = threadScript('shadow')
const THREAD_LIMITS = { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: 1024 }
const RESTART_MS = 60_000
const CHECK_MS = 1000

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
  const shadow = new Shadow(reloads, parts)
  onStop('shadow', () => shadow.close())
  addShadowMetrics(parts.registry, () => shadow.view)
  return () => shadow.view
}

interface ComparisonParts extends Pick<ShadowParts, 'policies' | 'logger'> {
  readonly policies: Policies
  readonly enforcing: Pick<ShadowParts, 'exceptions'>
  readonly metrics: Pick<ShadowParts, 'registry'>
  readonly knownImpact: KnownImpact
}

/** Sets up comparisons on demand and the shadow, whose results are part of activations. */
export function openComparisons(
  reloads: Pick<Reloads, 'config'>,
  { policies, logger, enforcing: { exceptions }, metrics: { registry }, knownImpact }: ComparisonParts,
  onStop: OnStop,
): { readonly impact: ImpactRuns; readonly shadow: (() => ShadowView) | undefined } {
  const impact = openImpact(reloads, { policies, exceptions, logger }, onStop)
  const shadow = openShadow(reloads, { policies, exceptions, logger, registry }, onStop)
  knownImpact.find = (revision) => {
    const shadowed = shadow?.().result
    if (shadowed?.candidate.revision === revision) return impactOf('shadow', shadowed)
    const result = impact.resultOf(revision)
    return result && impactOf('impact', result)
  }
  return { impact, shadow }
}

/** The thread with its latest report. */
class Shadow {
  readonly #reloads: Pick<Reloads, 'config'>
  readonly #parts: ShadowParts
  readonly #check: NodeJS.Timeout
  #thread: Worker | undefined
  #served: Snapshot | undefined
  #retryAtMs = 0
  #view: ShadowView

  constructor(reloads: Pick<Reloads, 'config'>, parts: ShadowParts) {
    this.#reloads = reloads
    this.#parts = parts
    this.#view = this.#newView()
    this.#check = setInterval(() => this.#startIfNeeded(), CHECK_MS).unref()
    this.#startIfNeeded()
  }

  get view(): ShadowView {
    return this.#view
  }

  async close(): Promise<void> {
    clearInterval(this.#check)
    await this.#thread?.terminate()
  }

  #newView(): ShadowView {
    const { sharePercent } = this.#reloads.config.policies.shadow
    return { state: 'compiling', since: new Date().toISOString(), sharePercent, dropped: 0, leftOut: 0 }
  }

  #startIfNeeded(): void {
    const { current } = this.#parts.policies
    if (this.#served === current && (this.#thread !== undefined || performance.now() < this.#retryAtMs))
      return
    void this.#thread?.terminate()
    this.#served = current
    this.#view = this.#newView()
    const { dataDir, policies } = this.#reloads.config
    const workerData: ShadowThreadOptions = {
      config: { dataDir, policies },
      serving: packSnapshot(current),
      exceptions: this.#parts.exceptions(),
    }
    const thread = new Worker(SCRIPT, { workerData, resourceLimits: THREAD_LIMITS })
    this.#thread = thread
    thread.unref()
    thread.on('message', (message: ShadowMessage) => {
      if (thread !== this.#thread) return
      if (message.type === 'progress') this.#view = { ...this.#view, state: 'running', ...message.progress }
      else this.#fail(message.failure.message)
    })
    thread.on('error', (error: Error) => {
      if (thread === this.#thread) this.#fail(error.message)
    })
    thread.on('exit', () => {
      if (thread === this.#thread) this.#thread = undefined
    })
  }

  #fail(error: string): void {
    this.#retryAtMs = performance.now() + RESTART_MS
    this.#view = { ...this.#view, state: 'failed', error }
    this.#parts.logger.error(
      { error },
      'the shadow of the policies does not run; it is started again in a minute',
    )
  }
}
