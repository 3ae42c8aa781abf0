import { Counter } from 'prom-client'
import type { Registry } from 'prom-client'

/** Where the figures of what went wrong inside come from. */
export interface ConditionFigures {
  /** How often each thread has died. */
  readonly threadDeaths: () => ReadonlyMap<string, number>
  /** How often another `decisions.db` was begun. */
  readonly decisionLogsRenewed: () => number
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
}
