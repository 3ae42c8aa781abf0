import type { WorkMeter } from '../../metering/work-meter.js'
import { MeteredParser } from './metered-parser.js'
import { Composer, isAlias, isMap, isScalar, isSeq } from 'yaml'
import type { Document, ParsedNode, Scalar, YAMLMap } from 'yaml'
import { RegoObject } from '../../values/value.js'
import type { RegoValue } from '../../values/value.js'
import { BuiltinError } from '../shared/builtin.js'
import { strictnessProblem, yamlErrorText } from './error-text.js'
import { keyText, readScalar } from './scalar-value.js'
import { readPlainScalar } from './plain-scalar.js'

/** Steps of each node that aliases stand for, which is work where the value is written. */
const ALIASED_STEPS = 1

type Node = ParsedNode | null

/** A converted node and how many nodes it stands for, aliases followed. */
interface Anchored {
  readonly value: RegoValue
  readonly size: number
}

/**
 * The first document of a YAML text as OPA reads it by way of JSON: exact 64-bit integers, floats as doubles, keys as
 * texts, of equal keys the last. Raises BuiltinError, with Go yaml's text for the usual mistakes.
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

/** Go yaml ends a document where lines begin to the left of an indented collection, and looks no further. */
function isBehindContents({ contents }: Document.Parsed, at: number, text: string): boolean {
  if (contents === null || isScalar(contents) || isAlias(contents) || contents.flow === true) return false
  const [start, , end] = contents.range
  const columnOf = (place: number): number => place - (text.lastIndexOf('\n', place - 1) + 1)
  return at >= end && columnOf(at) < columnOf(start)
}

/**
 * As `readYaml`, of a text in which nothing comes behind that: OPA looks no further, and what a person wrote there would pass unread.
 * Raises BuiltinError where something does.
 */
export function readWholeYaml(text: string, meter: WorkMeter): RegoValue {
  const value = readYaml(text, meter)
  const documents = [...compose(text, meter)]
  const error = documents.flatMap(({ errors }) => errors)[0]
  if (error !== undefined) throw new BuiltinError(yamlErrorText(error, text))
  const { length } = documents.filter(({ contents }) => contents !== null)
  if (length > 1)
    throw new BuiltinError(`it holds ${length} documents (---): write each into a file of its own`)
  return value
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
    // Of several mappings the earlier ones win.
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

/** Go yaml's own bound (decode.go): the more nodes, the fewer of them may come of aliases. */
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
