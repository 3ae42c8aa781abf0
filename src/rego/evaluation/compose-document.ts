import { mergeDocuments } from '../values/merge-documents.js'
import { RegoObject } from '../values/value.js'
import type { RegoValue } from '../values/value.js'
import { walkBaseDocument } from '../values/walk-value.js'
import type { Entrypoint, Snapshot } from '../snapshot/snapshot.js'
import { dataOf } from '../wasm/data/data-image.js'
import type { EvaluationCall } from '../wasm/evaluation-call.js'

/** Number of base values read between two checks of the clock. */
const READS_PER_LOOK = 512

/**
 * Composes a document from the values of its rules, as the module's own code would. A document
 * below it is an empty object if all its rules are undefined, and base documents are next to the
 * rules.
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
 * Returns the base document at a path, if any, read lazily. Within a slice, reading counts as time
 * and raises SliceOver.
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

/** Returns the value at a path as seen from a document above it. */
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
