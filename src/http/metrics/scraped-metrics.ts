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

  /** A gauge with labels. `read` returns the values by those of the labels, in order. */
  gauges(
    name: string,
    help: string,
    labelNames: readonly string[],
    read: () => Iterable<readonly [labels: readonly string[], value: number]>,
  ): void {
    new Gauge({
      ...{ name, help, labelNames: [...labelNames], registers: this.#registers },
      collect() {
        this.reset()
        for (const [labels, value] of read())
          this.set(Object.fromEntries(labelNames.map((label, at) => [label, labels[at] ?? ''])), value)
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
