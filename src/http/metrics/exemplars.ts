/** An example of an event in a sample, such as the run with a verdict. */
export interface Exemplar {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
  /** Time of the event, in epoch milliseconds. */
  readonly atMs: number
}

type Labels = Readonly<Record<string, string | number | undefined>>

/**
 * The last exemplar of each sample. prom-client stores exemplars only in registries that cannot
 * write the plain text format.
 */
export class Exemplars {
  readonly #bySeries = new Map<string, Exemplar>()

  /** `name` includes `_total` or `_bucket`: OpenMetrics allows exemplars for these samples only. */
  keep(name: string, labels: Labels, exemplar: Exemplar): void {
    this.#bySeries.set(seriesKey(name, labels), exemplar)
  }

  find(name: string, labels: Labels): Exemplar | undefined {
    return this.#bySeries.size === 0 ? undefined : this.#bySeries.get(seriesKey(name, labels))
  }
}

function seriesKey(name: string, labels: Labels): string {
  const sorted = Object.entries(labels).map(([label, value]) => [label, String(value)] as const)
  return JSON.stringify([name, sorted.toSorted(([a], [b]) => (a < b ? -1 : 1))])
}
