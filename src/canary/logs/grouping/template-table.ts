import { maskLine } from '../masking/mask-line.js'
import { mergePatterns } from '../merging/merge-patterns.js'
import { firstRow, keyWords, wordsKey } from '../model/pattern.js'
import type { Pattern } from '../model/pattern.js'
import { toTemplates } from './templates.js'
import type { Templates } from './templates.js'
import { traceWords } from '../trace/trace-words.js'
import { VALUE } from '../masking/scan-words.js'

/**
 * Maximum number of different masked lines, some hundred bytes each. Systems have at most a few
 * thousand templates.
 */
const MAX_PATTERNS = 20_000
/** Words of all of them together: a few systems write lines of hundreds of words. */
const MAX_WORDS = 500_000
/** Minimum free share after compaction. With less, compacting again would not be worth its time. */
const MIN_FREE_SHARE = 0.25

/**
 * Groups log events by template as they arrive. Memory is bounded and depends on their variety, not
 * on their number.
 */
export class TemplateTable {
  readonly #maxPatterns: number
  #rowOfKey = new Map<string, number>()
  #patterns: readonly Pattern[] = []
  readonly #added: Pattern[] = []
  #index = new PatternIndex()
  #words = 0
  readonly #linesOfRow: number[] = []
  #otherRow: number | undefined
  #isFull = false

  constructor(maxPatterns = MAX_PATTERNS) {
    this.#maxPatterns = maxPatterns
  }

  /**
   * Counts an event of one or more lines. Returns the row by which `finish` identifies its
   * template.
   */
  add(event: string): number {
    const row = this.#rowOf(event)
    this.#linesOfRow[row] = (this.#linesOfRow[row] ?? 0) + 1
    return row
  }

  /** The templates of all that was added. */
  finish(): Templates {
    const patterns = mergePatterns([...this.#patterns, ...this.#added])
    return toTemplates(patterns, this.#linesOfRow, this.#otherRow)
  }

  #rowOf(event: string): number {
    const trace = traceWords(event)
    const { words, gaps } = trace ?? maskLine(firstLine(event))
    const key = wordsKey(words)
    const known = this.#find(key, words)
    if (known !== undefined) return known
    if (!this.#isFull && this.#hasReached(1)) {
      this.#compact()
      const united = this.#find(key, words)
      if (united !== undefined) return united
    }
    return this.#isFull ? this.#other() : this.#addPattern(key, gaps, trace !== undefined)
  }

  #find(key: string, words: readonly string[]): number | undefined {
    return this.#rowOfKey.get(key) ?? this.#index.find(words)
  }

  #addPattern(key: string, gaps: readonly number[], isFixed: boolean): number {
    const row = this.#newRow()
    // A slice of the line would keep the whole line in memory; words cut from the key keep only the
    // key.
    this.#added.push({ words: keyWords(key), gaps, rows: [row], origins: [key], isFixed })
    this.#rowOfKey.set(key, row)
    this.#words += gaps.length
    return row
  }

  #compact(): void {
    this.#patterns = mergePatterns([...this.#patterns, ...this.#added.splice(0)])
    const single = this.#patterns.filter(({ rows }) => rows.length === 1)
    this.#rowOfKey = new Map(single.map((pattern) => [wordsKey(pattern.words), firstRow(pattern)]))
    this.#index = new PatternIndex(this.#patterns.filter(({ rows }) => rows.length > 1))
    this.#words = this.#patterns.reduce((sum, { words }) => sum + words.length, 0)
    this.#isFull = this.#hasReached(1 - MIN_FREE_SHARE)
  }

  #hasReached(share: number): boolean {
    const patterns = this.#patterns.length + this.#added.length
    return patterns >= this.#maxPatterns * share || this.#words >= MAX_WORDS * share
  }

  #other(): number {
    this.#otherRow ??= this.#newRow()
    return this.#otherRow
  }

  #newRow(): number {
    return this.#linesOfRow.push(0) - 1
  }
}

/** Later lines belong to the same event but differ between events. */
function firstLine(event: string): string {
  const end = event.indexOf('\n')
  return end < 0 ? event : event.slice(0, end)
}

interface Shape {
  readonly places: readonly number[]
  readonly rows: Map<string, number>
}

/**
 * An index of patterns with values at places where lines may have words. Tries the few existing
 * sets of places.
 */
class PatternIndex {
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
