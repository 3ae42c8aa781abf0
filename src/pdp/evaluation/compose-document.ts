import { mergeDocuments } from '../rego/merge-documents.js'
import { RegoObject } from '../rego/value.js'
import type { RegoValue } from '../rego/value.js'
import { walkBaseDocument } from '../rego/walk-value.js'
import type { Entrypoint, Snapshot } from '../snapshot/snapshot.js'

/**
 * The value of a document that is put together from rules, whose values these are: what the module's own code for it would give. A
 * document below it is defined and empty even where none of its rules is; base documents stand beside the rules.
 */
export function composeDocument(
  { data }: Snapshot,
  path: readonly string[],
  { documents, rules }: NonNullable<Entrypoint['parts']>,
  valueOf: (rule: Entrypoint) => RegoValue | undefined,
): RegoValue | undefined {
  const empty = new RegoObject([])
  return mergeDocuments([
    empty,
    ...documents.map((document) => placeBelow(document, path, empty)),
    walkBaseDocument(data, path),
    ...rules.map((rule) => placeBelow(rule.path, path, valueOf(rule))),
  ])
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
