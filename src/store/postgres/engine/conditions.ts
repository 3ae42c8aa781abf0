/** The conditions of a search, with their parameters. */
export class Conditions {
  readonly values: unknown[] = []
  readonly #texts: string[] = []

  /** Adds a condition in which each `?` stands for one of the values. */
  add(text: string, ...values: readonly unknown[]): void {
    const left = [...values]
    this.#texts.push(text.replaceAll('?', () => this.place(left.shift())))
  }

  /** What stands for one more value. */
  place(value: unknown): string {
    return `$${this.values.push(value)}`
  }

  toString(): string {
    return this.#texts.length === 0 ? 'true' : this.#texts.join(' and ')
  }
}
