import { seededRandom } from '../random-bytes.js'

/** A random generator. The same seed gives the same choices. */
export class Choices {
  readonly #random: () => number

  constructor(seed: number) {
    this.#random = seededRandom(seed)
  }

  below(limit: number): number {
    return Math.floor(this.#random() * limit)
  }

  chance(share: number): boolean {
    return this.#random() < share
  }

  one<T>(list: readonly T[]): T {
    const chosen = list[this.below(list.length)]
    if (chosen === undefined) throw new Error('there is nothing to choose from')
    return chosen
  }
}
