import { VALUE } from '../masking/scan-words.js'
import { firstRow, wordsKey } from '../model/pattern.js'
import type { Pattern } from '../model/pattern.js'

interface Shape {
  readonly places: readonly number[]
  readonly rows: Map<string, number>
}

/** Patterns with values at places where lines may have words: found by trying the few sets of places there are. */
export class PatternIndex {
  readonly #shapes = new Map<string, Shape>()
  readonly #byLength = new Map<number, Shape[]>()

  constructor(patterns: readonly Pattern[] = []) {
    for (const pattern of patterns) this.#add(pattern)
  }

  /** The first row of the pattern that these words fit. */
  find(words: readonly string[]): number | undefined {
    for (const { places, rows } of this.#byLength.get(words.length) ?? []) {
      const row = rows.get(wordsKey(withValues(words, places)))
      if (row !== undefined) return row
    }
    return undefined
  }

  #add(pattern: Pattern): void {
    const { words } = pattern
    const places = [...words.keys()].filter((place) => words[place] === VALUE)
    this.#shapeOf(words.length, places).rows.set(wordsKey(words), firstRow(pattern))
  }

  #shapeOf(length: number, places: readonly number[]): Shape {
    const name = [length, ...places].join()
    const known = this.#shapes.get(name)
    if (known !== undefined) return known
    const shape: Shape = { places, rows: new Map() }
    this.#shapes.set(name, shape)
    this.#byLength.set(length, [...(this.#byLength.get(length) ?? []), shape])
    return shape
  }
}

function withValues(words: readonly string[], places: readonly number[]): string[] {
  const filled = [...words]
  for (const place of places) filled[place] = VALUE
  return filled
}
