import { isAlias, isMap, isScalar, isSeq, visit } from 'yaml'
import type { ParsedNode, YAMLMap } from 'yaml'

import { Positions } from './source-node.js'
import type { SourceFile, SourceNode } from './source-node.js'

/** Reads a YAML file as JSON documents. Throws BuiltinError for malformed YAML. */
export async function readYamlFile(text: string): Promise<SourceFile> {
  const { readYamlDocuments } = await import('../../rego/builtins/yaml/read-yaml.js')
  const { UNMETERED_WORK } = await import('../../rego/metering/work-meter.js')
  const { printJson } = await import('../../rego/values/print-text.js')
  const documents = readYamlDocuments(text, UNMETERED_WORK).map(({ value, contents }) => ({
    json: Buffer.from(printJson(value)),
    source: new YamlNode(contents, new Anchors(contents)),
  }))
  return { documents, positions: new Positions((from, to) => text.slice(from, to)) }
}

/** The anchored nodes of a document. */
class Anchors {
  readonly #contents: ParsedNode
  #nodes: Map<string, unknown> | undefined

  constructor(contents: ParsedNode) {
    this.#contents = contents
  }

  /** Returns an alias's node. If an anchor is repeated, this is the last one. */
  resolve(node: unknown): unknown {
    return isAlias(node) ? (this.#nodes ??= this.#collect()).get(node.source) : node
  }

  #collect(): Map<string, unknown> {
    const nodes = new Map<string, unknown>()
    visit(this.#contents, {
      Node: (_key, node) => {
        if (!isAlias(node) && node.anchor !== undefined) nodes.set(node.anchor, node)
      },
    })
    return nodes
  }
}

class YamlNode implements SourceNode {
  readonly offset: number
  readonly #node: unknown
  readonly #anchors: Anchors

  constructor(node: ParsedNode, anchors: Anchors) {
    this.offset = node.range[0]
    this.#node = anchors.resolve(node)
    this.#anchors = anchors
  }

  member(name: string): SourceNode | undefined {
    if (!isMap(this.#node)) return undefined
    const own = valueOf(this.#node, name)
    if (own !== undefined) return this.#wrap(own)
    // Merged mappings are not followed further: a chain of them can be exponential.
    const merged = this.#anchors.resolve(valueOf(this.#node, '<<'))
    const sources = isSeq(merged) ? merged.items : [merged]
    for (const source of sources.map((item) => this.#anchors.resolve(item))) {
      const value = isMap(source) ? valueOf(source, name) : undefined
      if (value !== undefined) return this.#wrap(value)
    }
    return undefined
  }

  elements(): readonly SourceNode[] {
    return isSeq(this.#node) ? this.#node.items.map((item) => this.#wrap(item)) : []
  }

  text(): string | undefined {
    return isScalar(this.#node) && typeof this.#node.value === 'string' ? this.#node.value : undefined
  }

  #wrap(value: unknown): SourceNode {
    return new YamlNode(value as ParsedNode, this.#anchors)
  }
}

function valueOf(map: YAMLMap, name: string): unknown {
  return map.items.findLast(({ key }) => isScalar(key) && key.value === name)?.value ?? undefined
}
