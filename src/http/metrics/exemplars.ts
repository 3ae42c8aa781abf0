/** What one of the events behind a sample was, such as the run that had a verdict. */
export interface Exemplar {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
  /** When it was, in milliseconds since the epoch. */
  readonly atMs: number
}

type Labels = Readonly<Record<string, string | number | undefined>>

/** The last exemplar of each sample that has one. The library keeps them in registries alone that cannot write the plain format. */
export class Exemplars {
  readonly #bySeries = new Map<string, Exemplar>()

  /** `name` is that of the sample, `_total` or `_bucket` included: OpenMetrics knows no others with exemplars. */
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
