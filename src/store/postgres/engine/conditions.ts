/** Conditions of a query with their parameters. */
export class Conditions {
  readonly values: unknown[] = []
  readonly #texts: string[] = []

  /** Adds a condition. Each `?` is replaced by the placeholder of one value. */
  add(text: string, ...values: readonly unknown[]): void {
    const left = [...values]
    this.#texts.push(text.replaceAll('?', () => this.place(left.shift())))
  }

  /** Adds a value and returns its placeholder. */
  place(value: unknown): string {
    return `$${this.values.push(value)}`
  }

  toString(): string {
    return this.#texts.length === 0 ? 'true' : this.#texts.join(' and ')
  }
}
