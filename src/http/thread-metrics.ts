import { Counter } from 'prom-client'
import type { Registry } from 'prom-client'

/** Adds to `/metrics` how often each thread died. */
export function addThreadMetrics(registry: Registry, deaths: () => ReadonlyMap<string, number>): void {
  new Counter({
    name: 'tidegate_thread_deaths_total',
    help: 'How many times a thread ended by itself and was started again.',
    labelNames: ['thread'],
    registers: [registry],
    collect() {
      this.reset()
      for (const [thread, count] of deaths()) this.inc({ thread }, count)
    },
  })
}
