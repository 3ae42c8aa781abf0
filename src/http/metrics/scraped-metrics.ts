import { Counter, Gauge } from 'prom-client'
import type { Registry } from 'prom-client'

/** Registers metrics whose values are read at each scrape. */
export class ScrapedMetrics {
  readonly #registers: Registry[]

  constructor(registry: Registry) {
    this.#registers = [registry]
  }

  gauge(name: string, help: string, read: () => number | Promise<number>): void {
    new Gauge({
      ...{ name, help, registers: this.#registers },
      async collect() {
        this.set(await read())
      },
    })
  }

  /** `read` returns the total since the start. */
  counter(name: string, help: string, read: () => number): void {
    new Counter({
      ...{ name, help, registers: this.#registers },
      collect() {
        this.reset()
        this.inc(read())
      },
    })
  }

  /** `read` returns the totals by the value of one label. */
  counters(name: string, help: string, label: string, read: () => Iterable<readonly [string, number]>): void {
    new Counter({
      ...{ name, help, labelNames: [label], registers: this.#registers },
      collect() {
        this.reset()
        for (const [value, total] of read()) this.inc({ [label]: value }, total)
      },
    })
  }
}
