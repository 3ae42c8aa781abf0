import { LineCounter, isMap, isScalar, isSeq, parseDocument } from 'yaml'
import type { Node } from 'yaml'

import type { ErrorDetail } from '../../errors/app-error.js'

/** A problem at a line of a text. Rows and columns count from 1. */
interface ProblemAtRow {
  readonly row: number
  readonly column: number
  readonly message: string
}

/** Longer documents are shown without marks, because they would delay other requests. */
const MAX_LENGTH = 64 * 1024
/** A path at the start of a message: `metrics.groups[0].name must be …`. */
const PATH = /^[\w$-]+(?:\.[\w$-]+|\[\d+\])*/
const SEGMENT = /[\w$-]+/g
const UNKNOWN = /(?:^|: )(?<key>[\w$-]+) is not known/

/**
 * Returns the problems of a valid YAML or JSON document at the lines of the members that their
 * messages begin with, or of the nearest member above. Problems of the whole are left out.
 */
export function problemRows(text: string, details: readonly ErrorDetail[]): readonly ProblemAtRow[] {
  if (text.length > MAX_LENGTH || details.length === 0) return []
  const lineCounter = new LineCounter()
  const { contents } = parseDocument(text, { lineCounter })
  return details.flatMap(({ message }) => {
    const path = PATH.exec(message)?.[0].match(SEGMENT) ?? []
    const unknown = UNKNOWN.exec(message)?.groups?.['key']
    const offset = offsetOf(contents, unknown === undefined ? path : [...path, unknown])
    if (offset === undefined) return []
    const { line, col } = lineCounter.linePos(offset)
    return [{ row: line, column: col, message }]
  })
}

/** Returns the offset of the deepest member on a path that exists. Words that name none are skipped. */
function offsetOf(root: Node | null, path: readonly string[]): number | undefined {
  let node: unknown = root
  let offset: number | undefined
  for (const segment of path) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === segment)
      if (pair === undefined) continue
      offset = isScalar(pair.key) ? pair.key.range?.[0] : offset
      node = pair.value
    } else if (isSeq(node)) {
      const item: unknown = node.items[Number(segment)]
      if (item === undefined) break
      node = item
      offset = isMap(item) || isSeq(item) || isScalar(item) ? item.range?.[0] : offset
    } else break
  }
  return offset
}
