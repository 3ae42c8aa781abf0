import { maskLine } from '../masking/mask-line.js'
import { VALUE } from '../masking/scan-words.js'
import type { ScannedLine } from '../masking/scan-words.js'
import { mergePatterns } from '../merging/merge-patterns.js'
import { firstRow, keyWords, wordsKey } from '../model/pattern.js'
import type { Pattern } from '../model/pattern.js'
import { PYTHON_BEGINNING } from '../trace/continuation.js'
import { toTemplates } from './templates.js'
import type { Templates } from './templates.js'

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

const TYPE =
  /(?:^|[\s:;,([=])((?:[A-Za-z_][\w$]*(?:\.|\\|::))*[A-Z][\w$]*(?:Exception|Error|Throwable|Warning|Interrupt|Exit|Fault))(?=[\s:;,)\]]|$)/
/** Number of characters within which the type of an exception is searched. */
const MAX_TYPE_WITHIN = 1000
/** Ruby writes the location, the message and the type of the exception in one line. */
const RUBY_HEAD = /^[^\s:]+:\d+:in [`'][^']+': /
const PANIC = /^panic:|^fatal error:|panicked at/m
/** `QuerySet$$Lambda$14/0x00` and `<lambda_7>`: these numbers differ between starts. */
const NUMBERED = /(?<=\$\$?)\w*\d\w*(?:\/0x[0-9a-f]+)?|(?<=lambda_?)\d+/g

/**
 * The words of a stack trace: the type of its exception and the first frame of the program's own
 * code, without line numbers. Two traces with equal words are one event whatever their messages
 * are. Undefined if the event is not a trace.
 */
function traceWords(event: string): ScannedLine | undefined {
  if (!event.includes('\n')) return undefined
  const lines = event.split('\n')
  const frames = lines.map(frameName).filter((name) => name !== undefined)
  const type = typeOf(event, lines)
  if (frames.length === 0 || type === undefined) return undefined
  // Python writes the innermost call last, all others first.
  const inner = event.includes(PYTHON_BEGINNING) ? frames.toReversed() : frames
  const frame = inner.find(isOwnFrame) ?? inner[0] ?? ''
  return { words: [type, 'at', frame.replaceAll(NUMBERED, '*')], gaps: [0, 1, 1] }
}

function typeOf(event: string, lines: readonly string[]): string | undefined {
  const python = lines.findIndex((line) => line.startsWith(PYTHON_BEGINNING))
  const searched = python < 0 ? lines : lines.slice(python).toReversed()
  for (const line of searched) {
    const isHead = frameName(line) === undefined || RUBY_HEAD.test(line)
    const type = isHead ? TYPE.exec(line.slice(0, MAX_TYPE_WITHIN))?.[1] : undefined
    if (type !== undefined) return type
  }
  return PANIC.test(event) ? 'panic' : undefined
}

/** How the frames of a trace are written, the name of the function in the first group. */
const FRAMES: readonly RegExp[] = [
  // JavaScript: `at Shop.buy (/srv/shop.js:12:3)`, `at async buy (…)`, `at /srv/shop.js:12:3`
  /^\s*at (?:async )?(.+? \(.+?):\d+:\d+\)$/,
  /^\s*at (?:async )?([^\s()]+?):\d+:\d+$/,
  // Java and other languages of its machine, .NET: `at com.example.Shop.buy(Shop.java:12)`
  /^\s*at ([\w$.<>/`[\], ]+)\(.*\)/,
  // Python: `File "/srv/shop.py", line 12, in buy`
  /^\s*File "([^"]+", line \d+, in \S+)/,
  // Ruby: `from /srv/shop.rb:12:in 'Shop#buy'`
  /^\s*(?:from )?([^\s:]+:\d+:in [`'][^']+)'/,
  // PHP: `#0 /srv/shop.php(12): Shop->buy(17)`
  /^#\d+ \S+\(\d+\): ([\w\\$:>{}-]+)\(/,
  // Rust: ` 3: shop::orders::place`, in some builds with a hash at the end
  /^\s+\d+: (?:0x[\da-f]+ - )?(\S.*?)(?:::h[\da-f]{16})?$/,
  // Go: `main.(*Shop).Buy(0xc000010, 0x3)`
  /^([\w./-]+\.(?:\(\*?\w+\)\.)?[\w.]+)\(.*\)$/,
]

/** Longer lines are data; some of the patterns above would take long for them. */
const MAX_FRAME_CHARACTERS = 1000

/** Code outside of the program: runtimes and common libraries. */
const FOREIGN =
  /^(?:java|javax|jakarta|jdk|sun|com\.sun|kotlin|scala|groovy|clojure|org\.(?:springframework|apache|hibernate|eclipse|jboss|junit|slf4j)|io\.(?:netty|grpc|vertx)|reactor|rx|akka|okhttp3|com\.(?:google|fasterxml|mysql)|System|Microsoft|runtime|net\/http|reflect|syscall|testing)[./]|node:|(?:^|\s)internal\/|node_modules|(?:site|dist)-packages|\/usr\/lib|<frozen|\/gems\/|\/rustc\/|(?:^|<)(?:std|core|alloc|tokio)::|rust_begin_unwind|__rust/

/**
 * The function in one line of a trace, and its file if the language shows it, without the position
 * in the file.
 */
function frameName(line: string): string | undefined {
  if (line.length > MAX_FRAME_CHARACTERS) return undefined
  for (const frame of FRAMES) {
    const name = frame.exec(line)?.[1]
    if (name !== undefined) return name.replace(/", line \d+, in | \(|:\d+:in [`']/, ' ').trim()
  }
  return undefined
}

/** Whether a frame is code of the program itself. */
function isOwnFrame(name: string): boolean {
  return !FOREIGN.test(name)
}
