import { Counter, Gauge } from 'prom-client'
import type { Registry } from 'prom-client'
import type { ShippingMetrics } from '../../store/ports/decision-shipping.js'

const MS_PER_SECOND = 1000

/** Where the figures of what went wrong inside come from. */
export interface ConditionFigures {
  /** How often each thread has died. */
  readonly threadDeaths: () => ReadonlyMap<string, number>
  /** How often another `decisions.db` was begun. */
  readonly decisionLogsRenewed: () => number
  /** How long the load of policies under way has taken, in milliseconds; 0 where there is none. */
  readonly policiesLoadingMs: () => number
  /** Absent where no log is shared. */
  readonly shipping?: (() => ShippingMetrics) | undefined
}

/** Adds to `/metrics` what was lost and begun again. */
export function addConditionMetrics(registry: Registry, figures: ConditionFigures): void {
  const registers = [registry]
  new Counter({
    name: 'tidegate_thread_deaths_total',
    help: 'How many times a thread ended by itself and was started again.',
    labelNames: ['thread'],
    registers,
    collect() {
      this.reset()
      for (const [thread, count] of figures.threadDeaths()) this.inc({ thread }, count)
    },
  })
  new Counter({
    name: 'tidegate_decision_log_renewed_total',
    help: 'How many times another decisions.db was begun in place of a damaged or lost one.',
    registers,
    collect() {
      this.reset()
      this.inc(figures.decisionLogsRenewed())
    },
  })
  new Gauge({
    name: 'tidegate_policy_loading_seconds',
    help: 'How long the load of policies under way has taken; 0 where there is none.',
    registers,
    collect() {
      this.set(figures.policiesLoadingMs() / MS_PER_SECOND)
    },
  })
  if (figures.shipping !== undefined) addShippingMetrics(registers, figures.shipping)
}

function addShippingMetrics(registers: Registry[], figures: () => ShippingMetrics): void {
  new Counter({
    name: 'tidegate_decisions_shipped_total',
    help: 'Decisions that were taken to the log that all services share.',
    registers,
    collect() {
      this.reset()
      this.inc(figures().shipped)
    },
  })
  new Gauge({
    name: 'tidegate_decisions_unshipped',
    help: 'Decisions of the local file that are not in the shared log yet.',
    registers,
    collect() {
      this.set(figures().waiting)
    },
  })
  new Gauge({
    name: 'tidegate_decisions_never_shipped',
    help: 'Decisions that the bounds of the local file took before they were shipped, since that file was begun.',
    registers,
    collect() {
      this.set(figures().missing)
    },
  })
}
