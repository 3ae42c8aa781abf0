import { equalNodes } from './pattern-node.js'
import type { PatternNode, Sequence } from './pattern-node.js'

/**
 * The sequence that stands for alternatives which begin or end alike: `{ab*,ac*}` is `a{b,c}*`. Undefined where they share
 * nothing. What OPA shares is not always what they have in common, so that it is followed to the letter.
 */
export function shareAlternatives(alternatives: readonly PatternNode[]): Sequence | undefined {
  const sequences = alternatives.flatMap((node) => (node.kind === 'pattern' ? [node] : []))
  if (sequences.length < 2 || sequences.length < alternatives.length) return undefined
  const { left, right } = commonEnds(sequences)
  if (left.length === 0 && right.length === 0) return undefined
  const children: PatternNode[] = []
  if (left.length > 0) children.push({ kind: 'pattern', children: left })
  const rests: PatternNode[] = []
  for (const sequence of sequences) {
    const rest = sequence.children.slice(left.length, sequence.children.length - right.length)
    const node: PatternNode = rest.length === 0 ? { kind: 'nothing' } : { kind: 'pattern', children: rest }
    if (!rests.some((known) => equalNodes(known, node))) rests.push(node)
  }
  const [only] = rests
  if (rests.length > 1) children.push({ kind: 'any-of', children: rests })
  else if (only !== undefined && only.kind !== 'nothing') children.push(only)
  if (right.length > 0) children.push({ kind: 'pattern', children: right })
  return { kind: 'pattern', children }
}

/** What all have at their beginning, and at their end. */
function commonEnds(sequences: readonly Sequence[]): { left: PatternNode[]; right: PatternNode[] } {
  const shortest = sequences.reduce((least, one) =>
    one.children.length < least.children.length ? one : least,
  )
  const { length } = shortest.children
  const others = sequences.filter((sequence) => sequence !== shortest)
  const left: PatternNode[] = []
  let firstOfRight = length
  let isLeftOver = false
  let isRightOver = false
  let shared = 0
  for (let i = 0; shared < length && i < length && !(isLeftOver && isRightOver); i++) {
    const j = length - 1 - i
    const [ofLeft, ofRight] = [shortest.children[i], shortest.children[j]]
    for (const { children } of others) {
      if (isLeftOver && isRightOver) break
      isLeftOver ||= !isSame(ofLeft, children[i])
      // What is shared at the beginning is not shared at the end as well.
      isRightOver ||= !isLeftOver && j <= i
      isRightOver ||= !isSame(ofRight, children[j + children.length - length])
    }
    if (!isLeftOver && ofLeft !== undefined) {
      shared++
      left.push(ofLeft)
    }
    if (!isRightOver) {
      shared++
      firstOfRight = j
    }
  }
  return { left, right: shortest.children.slice(firstOfRight) }
}

function isSame(a: PatternNode | undefined, b: PatternNode | undefined): boolean {
  return a !== undefined && b !== undefined && equalNodes(a, b)
}
