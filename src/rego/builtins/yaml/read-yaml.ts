import { Composer, isAlias, isMap, isScalar, isSeq, Parser } from 'yaml'
import type { CST, Document, ParsedNode, Scalar, YAMLError, YAMLMap } from 'yaml'

import type { WorkMeter } from '../../metering/work-meter.js'
import { RegoObject } from '../../values/value.js'
import type { RegoValue } from '../../values/value.js'
import { BuiltinError } from '../shared/builtin.js'
import { keyText, readPlainScalar, readScalar } from './plain-scalar.js'

/** Steps per node reached through aliases, each of which is written to the result. */
const ALIASED_STEPS = 1

type Node = ParsedNode | null

/** A converted node and its number of nodes, including aliased ones. */
interface Anchored {
  readonly value: RegoValue
  readonly size: number
}

/**
 * Reads the first document of a YAML text like OPA, by way of JSON: exact 64-bit integers, floats
 * as doubles, keys as strings, the last of equal keys. Throws BuiltinError, with Go yaml's message
 * for common mistakes.
 */
export function readYaml(text: string, meter: WorkMeter): RegoValue {
  const problem = strictnessProblem(text)
  if (problem !== undefined) throw new BuiltinError(problem)
  const document = composeFirst(text, meter)
  const error = document?.errors[0]
  if (document !== undefined && error !== undefined && !isBehindContents(document, error.pos[0], text))
    throw new BuiltinError(yamlErrorText(error, text))
  return document === undefined ? null : new DocumentReader(meter).read(document.contents)
}

/** Go yaml ends a document where the indentation falls below the collection's. */
function isBehindContents({ contents }: Document.Parsed, at: number, text: string): boolean {
  if (contents === null || isScalar(contents) || isAlias(contents) || contents.flow === true) return false
  const [start, , end] = contents.range
  const columnOf = (offset: number): number => offset - (text.lastIndexOf('\n', offset - 1) + 1)
  return at >= end && columnOf(at) < columnOf(start)
}

/** A document of a YAML text. */
export interface YamlDocument {
  readonly value: RegoValue
  /** Its syntax tree. Ranges are in UTF-16 units of the text. */
  readonly contents: ParsedNode
}

/**
 * Reads all documents of a YAML text, each like `readYaml`, without empty ones. The limit on
 * aliases applies to their sum. Throws BuiltinError for a mistake in any document.
 */
export function readYamlDocuments(text: string, meter: WorkMeter): YamlDocument[] {
  const problem = strictnessProblem(text)
  if (problem !== undefined) throw new BuiltinError(problem)
  const documents = [...compose(text, meter)]
  const error = documents.flatMap(({ errors }) => errors)[0]
  if (error !== undefined) throw new BuiltinError(yamlErrorText(error, text))
  const reader = new DocumentReader(meter)
  return documents.flatMap(({ contents }) =>
    isEmpty(contents) ? [] : [{ value: reader.readNext(contents), contents }],
  )
}

function isEmpty(contents: Node): contents is null {
  return contents === null || (isScalar(contents) && contents.source === '' && contents.type === 'PLAIN')
}

function composeFirst(text: string, meter: WorkMeter): Document.Parsed | undefined {
  for (const document of compose(text, meter)) return document
  return undefined
}

function compose(text: string, meter: WorkMeter): Iterable<Document.Parsed> {
  const composer = new Composer({
    version: '1.1',
    schema: 'failsafe',
    uniqueKeys: false,
    strict: true,
    logLevel: 'silent',
  })
  return composer.compose(new MeteredParser(meter).parse(text))
}

class DocumentReader {
  readonly #anchors = new Map<string, Anchored | 'open'>()
  readonly #meter: WorkMeter
  #size = 0
  #aliased = 0

  constructor(meter: WorkMeter) {
    this.#meter = meter
  }

  /** Reads another document, whose anchors are its own. */
  readNext(contents: Node): RegoValue {
    this.#anchors.clear()
    return this.read(contents)
  }

  read(node: Node): RegoValue {
    if (isAlias(node)) return this.#readAlias(node.source)
    const anchor = node?.anchor
    if (anchor === undefined) return this.#readNode(node)
    this.#anchors.set(anchor, 'open')
    const before = this.#size
    const value = this.#readNode(node)
    this.#anchors.set(anchor, { value, size: this.#size - before })
    return value
  }

  #readAlias(name: string): RegoValue {
    const anchored = this.#anchors.get(name)
    if (anchored === undefined) throw new BuiltinError(`yaml: unknown anchor '${name}' referenced`)
    if (anchored === 'open') throw new BuiltinError(`yaml: anchor '${name}' value contains itself`)
    this.#count(1 + anchored.size, anchored.size)
    return anchored.value
  }

  #readNode(node: Node): RegoValue {
    this.#count(1, 0)
    if (isSeq(node)) return node.items.map((item) => this.read(item as Node))
    if (isMap(node)) return this.#readMap(node)
    return isScalar(node) ? readScalar(node) : null
  }

  #readMap(map: YAMLMap): RegoValue {
    const members = new Map<string, RegoValue>()
    for (const pair of map.items) {
      const key = pair.key as Node
      if (isMergeKey(key)) this.#merge(pair.value as Node, members)
      else {
        const value = this.read(pair.value as Node)
        members.set(keyText(this.read(key), value), value)
      }
    }
    return new RegoObject(members)
  }

  #merge(node: Node, members: Map<string, RegoValue>): void {
    const merged = this.read(node)
    // The first of several mappings takes precedence.
    const sources: readonly RegoValue[] =
      merged instanceof RegoObject ? [merged] : listOf(merged).toReversed()
    for (const source of sources) {
      if (!(source instanceof RegoObject)) return failMerge()
      for (const [key, value] of source.entries) members.set(keyText(key, value), value)
    }
  }

  #count(nodes: number, aliased: number): void {
    this.#meter.spend(aliased * ALIASED_STEPS)
    this.#size += nodes
    this.#aliased += aliased
    if (isExcessive(this.#size, this.#aliased)) {
      throw new BuiltinError('yaml: document contains excessive aliasing')
    }
  }
}

/** Go yaml's limit (decode.go): the more nodes, the smaller the permitted share of aliased ones. */
function isExcessive(nodes: number, aliased: number): boolean {
  if (aliased <= 100 || nodes <= 1000) return false
  const share = Math.min(1, Math.max(0, (nodes - 400_000) / 3_600_000))
  return aliased / nodes > 0.99 - 0.89 * share
}

function isMergeKey(key: Node): boolean {
  if (!isScalar(key) || key.type !== 'PLAIN') return false
  return readPlainScalar((key as Scalar).source ?? '').kind === 'merge'
}

function listOf(value: RegoValue): readonly RegoValue[] {
  return Array.isArray(value) ? (value as readonly RegoValue[]) : failMerge()
}

function failMerge(): never {
  throw new BuiltinError('yaml: map merge requires map or sequence of maps as the value')
}

/** Go's scanner counts lines from one, its parser from zero. Both omit a zero. */
type Finder = 'scanner' | 'parser'

/** Go yaml's messages by the library's messages for the same mistake. */
const PROBLEMS: readonly (readonly [message: RegExp, finder: Finder, problem: string])[] = [
  [/^Nested mappings/, 'scanner', 'mapping values are not allowed in this context'],
  [/^Missing closing ['"]quote/, 'scanner', 'found unexpected end of stream'],
  [/end with a \]/, 'parser', "did not find expected ',' or ']'"],
  [/end with a \}/, 'parser', "did not find expected ',' or '}'"],
  [
    /^(?:Tabs are not allowed|Plain value cannot start)/,
    'scanner',
    'found character that cannot start any token',
  ],
  [
    /^(?:Alias|Anchor) cannot be an empty/,
    'scanner',
    'did not find expected alphabetic or numeric character',
  ],
  [/^Implicit map keys need/, 'scanner', "could not find expected ':'"],
  [/^Invalid escape sequence/, 'scanner', 'found unknown escape character'],
  [/block-seq-ind on same line/, 'scanner', 'block sequence entries are not allowed in this context'],
  [/flow-(?:map|seq)-end token|^Unexpected , in flow/, 'parser', 'did not find expected node content'],
  [/^All mapping items must start|^Unexpected /, 'parser', 'did not find expected key'],
]

/** Returns Go yaml's message for a mistake that the library found. */
function yamlErrorText(error: YAMLError, text: string): string {
  const end = text.trimEnd()
  const isAtEnd = error.pos[0] >= end.length
  const offset =
    error.code === 'BLOCK_AS_IMPLICIT_KEY' ? valueIndicatorAfter(text, error.pos[0]) : error.pos[0]
  const row = text.slice(0, isAtEnd ? end.length : offset).split('\n').length - (isAtEnd ? 0 : 1)
  const [, finder, problem] = PROBLEMS.find(([message]) => message.test(error.message)) ?? [
    undefined,
    'parser',
    error.message.split('\n', 1)[0] ?? error.message,
  ]
  const line = finder === 'scanner' && !isAtEnd && row > 0 ? row + 1 : row
  const isUnnumbered = finder === 'scanner' && isAtEnd && line === 1
  return line === 0 || isUnnumbered ? `yaml: ${problem}` : `yaml: line ${line}: ${problem}`
}

/** The library marks the start of a misplaced mapping, Go its colon. */
function valueIndicatorAfter(text: string, start: number): number {
  return Math.max(start, text.indexOf(':', start))
}

const DIRECTIVE = /^(?:[ \t]*(?:#.*)?\n)*%(\S*)[ \t]*(\S*)/
// The only control characters in YAML are tab, line feed, carriage return and U+0085.
const CONTROL = /(?![\t\n\r\u0085])\p{Cc}/u

/** Returns Go yaml's message for a text that only the library accepts, or undefined. */
function strictnessProblem(text: string): string | undefined {
  if (CONTROL.test(text)) return 'yaml: control characters are not allowed'
  const [, name, version] = DIRECTIVE.exec(text) ?? []
  if (name === undefined || name === 'TAG') return undefined
  if (name === '') return 'yaml: could not find expected directive name'
  if (!/^[\w-]+$/.test(name)) return 'yaml: found unexpected non-alphabetical character'
  if (name !== 'YAML') return 'yaml: found unknown directive name'
  return version === '1.1' ? undefined : 'yaml: found incompatible YAML document'
}

/** Steps per lexeme up to its value: the library creates several objects of each. */
const LEXEME_STEPS = 300
const LEXEME_BYTES = 400
/** Maximum depth that is safe for the recursive composer. Go yaml's limit is 10,000. */
const MAX_DEPTH = 250

/** The library's parser, charging for each lexeme and its later processing. */
class MeteredParser extends Parser {
  readonly #meter: WorkMeter

  constructor(meter: WorkMeter) {
    super()
    this.#meter = meter
  }

  override *next(source: string): Generator<CST.Token, void> {
    this.#meter.spend(LEXEME_STEPS)
    this.#meter.reserve(LEXEME_BYTES)
    if (this.stack.length > MAX_DEPTH) this.#meter.exceed(`YAML is nested deeper than ${MAX_DEPTH} levels`)
    yield* super.next(source)
  }
}
