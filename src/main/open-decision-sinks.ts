import { hostname } from 'node:os'
import { join } from 'node:path'

import type { Config } from '../config/config.js'
import type { ReadSecret } from '../config/values/secret.js'
import type { EventLabels } from '../decisions/shipping/decision-event.js'
import type { RoundIntervals } from '../decisions/shipping/ship-continually.js'
import { startShipping } from '../decisions/shipping/shipping-thread.js'
import type { ShippingRequest } from '../decisions/shipping/shipping-thread.js'
import { packageVersion, threadScript } from '../lib/package-root.js'
import type { Snapshot } from '../rego/index.js'
import type { Logger } from '../lib/logger.js'
import type { ThreadDeath } from '../lib/threads/supervised-thread.js'
import type { ShippingMetrics } from '../store/ports/decision-shipping.js'
import { readAccess } from './configured-sources.js'
import { logPoliciesOf } from './evaluations/log-rules.js'

/** A sink as configured. */
export type DecisionSinkConfig = Config['decisions']['sinks'][number]

/** Start data of a shipping thread. */
export interface ShipperOptions extends Pick<RoundIntervals, 'minMs' | 'maxMs'> {
  /** Path of the local log. */
  readonly path: string
  /** Name of the receiver, under which the local log has its position. */
  readonly receiver: string
  readonly to:
    | { readonly type: 'database'; readonly settings: object; readonly replica: string }
    /** The thread reads the secrets again, because a `Secret` cannot be sent to a thread. */
    | { readonly type: 'sink'; readonly sink: DecisionSinkConfig; readonly labels: EventLabels }
}

/** The receivers of `decisions.sinks`. */
export interface DecisionSinks {
  readonly metrics: () => ReadonlyMap<string, ShippingMetrics>
  /** Warns that a sink receives decisions late or never. */
  readonly warning: () => string | undefined
  /** Masks later events by other policies. Nothing leaves before the first call. */
  readonly follow: (snapshot: Snapshot) => void
  /** Call it when all decisions are in the local file, which must still be open. */
  readonly close: () => Promise<void>
}

interface SinksParts {
  readonly logger: Logger
  readonly readSecret: ReadSecret
  readonly threadDied: (death: ThreadDeath) => void
}

const MS_PER_SECOND = 1000
/** A file receives decisions as soon as they are stored. */
const FILE_INTERVALS = { minMs: 500, maxMs: 30_000 }
/** Above this number of waiting decisions a warning is shown. */
const MAX_WAITING = 100_000

/**
 * Starts a thread for each sink, which ships from the local file. Throws `invalid` for files that
 * cannot be read.
 */
export function openDecisionSinks(
  config: Config,
  { logger, readSecret, threadDied }: SinksParts,
): DecisionSinks {
  const { dataDir, decisions, store } = config
  const { sinks } = decisions
  const { replica = hostname() } = store
  for (const sink of sinks) if (sink.type !== 'file') readAccess(sink, readSecret, 'decisions.sinks')
  let message: ShippingRequest | undefined
  const opened = sinks.map((sink) => {
    const labels = { ...sink.labels, id: replica, version: packageVersion() }
    const workerData: ShipperOptions = {
      path: join(dataDir, 'decisions.db'),
      receiver: sink.name,
      ...intervalsOf(sink),
      to: { type: 'sink', sink, labels },
    }
    const shipping = startShipping({
      script: threadScript('decision-shipper'),
      workerData,
      died: threadDied,
      policies: () => message,
      changed: (problem) => {
        if (problem === undefined) logger.info({ sink: sink.name }, 'a sink receives decisions again')
        else
          logger.warn(
            { sink: sink.name, error: problem },
            'a sink receives no decisions; they stay in the local file',
          )
      },
    })
    return { name: sink.name, shipping }
  })
  return {
    follow: (snapshot) => {
      if (opened.length === 0) return
      message = { type: 'policies', policies: logPoliciesOf(snapshot, config) }
      for (const { shipping } of opened) shipping.policiesChanged()
    },
    metrics: () => new Map(opened.map(({ name, shipping }) => [name, shipping.metrics()] as const)),
    warning: () => {
      const warnings = opened.flatMap(({ name, shipping }) => warningOf(name, shipping.metrics()))
      return warnings.length === 0 ? undefined : warnings.join('; ')
    },
    close: async () => {
      await Promise.all(opened.map(({ shipping }) => shipping.close()))
    },
  }
}

function intervalsOf(sink: DecisionSinkConfig): Pick<RoundIntervals, 'minMs' | 'maxMs'> {
  if (sink.type === 'file') return FILE_INTERVALS
  const { minDelaySeconds, maxDelaySeconds } = sink
  return { minMs: minDelaySeconds * MS_PER_SECOND, maxMs: maxDelaySeconds * MS_PER_SECOND }
}

function warningOf(name: string, { waiting, missing, problem }: ShippingMetrics): string[] {
  const late = `decisions that sink ${name} does not have yet: ${waiting}`
  return [
    ...(problem !== undefined ? [`${late} (${problem})`] : waiting > MAX_WAITING ? [late] : []),
    ...(missing > 0 ? [`decisions that sink ${name} will never have: ${missing}`] : []),
  ]
}
