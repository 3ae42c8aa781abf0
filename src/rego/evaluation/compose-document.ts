import { mergeDocuments } from '../values/merge-documents.js'
import { RegoObject } from '../values/value.js'
import type { RegoValue } from '../values/value.js'
import { walkBaseDocument } from '../values/walk-value.js'
import type { Entrypoint, Snapshot } from '../snapshot/snapshot.js'
import { dataOf } from '../wasm/data/data-image.js'
import type { EvaluationCall } from '../wasm/evaluation-call.js'

/** So many values of base documents are read between two looks at the clock. */
const READS_PER_LOOK = 512

/**
 * The value of a document that is put together from rules, whose values these are: what the module's own code for it would give. A
 * document below it is defined and empty even where none of its rules is; base documents stand beside the rules.
 */
export function composeDocument(
  snapshot: Snapshot,
  path: readonly string[],
  { documents, rules }: NonNullable<Entrypoint['parts']>,
  valueOf: (rule: Entrypoint) => RegoValue | undefined,
  call: EvaluationCall,
): RegoValue | undefined {
  const empty = new RegoObject([])
  return mergeDocuments([
    empty,
    ...documents.map((document) => placeBelow(document, path, empty)),
    baseDocumentAt(snapshot, path, call),
    ...rules.map((rule) => placeBelow(rule.path, path, valueOf(rule))),
  ])
}

/**
 * The base document at a path, undefined where there is none; what is below it is read when it is looked at. Within a slice the time of reading counts, wherever
 * the value is read: raises SliceOver then.
 */
export function baseDocumentAt(
  { data, image }: Snapshot,
  path: readonly string[],
  { slice }: EvaluationCall,
): RegoValue | undefined {
  if (slice === undefined) return walkBaseDocument(data, path)
  let reads = 0
  const count = (): void => {
    reads += 1
    if (reads % READS_PER_LOOK === 0) slice.require()
  }
  return walkBaseDocument(dataOf(image, count), path)
}

/** The value at a path as the document of a path above it has it. */
export function placeBelow(
  path: readonly string[],
  above: readonly string[],
  value: RegoValue | undefined,
): RegoValue | undefined {
  if (value === undefined) return undefined
  return path
    .slice(above.length)
    .reduceRight((inner: RegoValue, segment) => RegoObject.fromRecord({ [segment]: inner }), value)
}
