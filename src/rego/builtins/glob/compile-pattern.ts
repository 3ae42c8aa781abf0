import type { WorkMeter } from '../../metering/work-meter.js'
import { bytesOf } from './bytes.js'
import type { Bytes } from './bytes.js'
import { list, listOf, range, single } from './character-matchers.js'
import { anyOf, row, tree } from './compound-matchers.js'
import { glue, simplify } from './simplify-matchers.js'
import { ANY_LENGTH } from './matcher.js'
import type { Matcher } from './matcher.js'
import type { PatternNode, Sequence } from './pattern-node.js'
import { shareAlternatives } from './share-alternatives.js'
import { text } from './text-matchers.js'
import { any, nothing, superMatcher } from './wildcard-matchers.js'

/** Steps of looking at one part of a pattern. */
const PART_STEPS = 4

/** What wildcards match is the same all over a pattern. */
interface Wildcards {
  readonly any: Matcher
  readonly single: Matcher
}

/**
 * The matcher of a pattern. OPA's library rewrites patterns for speed, and some of that changes what they match: each step is
 * taken as it takes it.
 */
export function compileGlob(pattern: Sequence, separators: readonly Bytes[], meter: WorkMeter): Matcher {
  return compileNode(pattern, { any: any(separators), single: single(separators) }, meter)
}

function compileNode(node: PatternNode, wildcards: Wildcards, meter: WorkMeter): Matcher {
  if (node.kind === 'any-of') {
    meter.spend(node.children.length ** 2 * PART_STEPS)
    const shared = shareAlternatives(node.children)
    return shared === undefined
      ? simplify(anyOf(compileAll(node.children, wildcards, meter)))
      : compileNode(shared, wildcards, meter)
  }
  if (node.kind !== 'pattern') return simplify(compileLeaf(node, wildcards))
  if (node.children.length === 0) return nothing
  return simplify(joined(gluedWherePossible(compileAll(node.children, wildcards, meter), meter), meter))
}

function compileAll(nodes: readonly PatternNode[], wildcards: Wildcards, meter: WorkMeter): Matcher[] {
  return nodes.map((node) => simplify(compileNode(node, wildcards, meter)))
}

function compileLeaf(node: Exclude<PatternNode, { children: PatternNode[] }>, wildcards: Wildcards): Matcher {
  switch (node.kind) {
    case 'any':
      return wildcards.any
    case 'super':
      return superMatcher
    case 'single':
      return wildcards.single
    case 'nothing':
      return nothing
    case 'list':
      return list(listOf(node.characters), node.isNegated)
    case 'range':
      return range(node.low, node.high, node.isNegated)
    case 'text':
      return text(bytesOf(node.text))
  }
}

/** Puts neighbours together as long as there are any that one matcher stands for: the most at a time, the first of equally many. */
function gluedWherePossible(matchers: readonly Matcher[], meter: WorkMeter): readonly Matcher[] {
  let best: { readonly matcher: Matcher; readonly from: number; readonly to: number } | undefined
  for (let from = 0; from < matchers.length; from++) {
    for (let to = matchers.length; to > from; to--) {
      meter.spend(PART_STEPS)
      const matcher = glueOrRow(matchers.slice(from, to), meter)
      if (matcher === undefined) continue
      const isLonger =
        best === undefined ||
        (best.matcher.length > ANY_LENGTH && matcher.length > best.matcher.length) ||
        best.to - best.from < to - from
      if (isLonger) best = { matcher, from, to }
    }
  }
  if (best === undefined) return matchers
  const { matcher, from, to } = best
  const next = [...matchers.slice(0, from), matcher, ...matchers.slice(to)]
  return next.length === matchers.length ? next : gluedWherePossible(next, meter)
}

/** One matcher for several: what is longest and of known length in the middle, the rest at its sides. */
function joined(matchers: readonly Matcher[], meter: WorkMeter): Matcher {
  meter.spend(matchers.length * PART_STEPS)
  const [first = nothing, ...others] = matchers
  if (others.length === 0) return first
  const glued = glueOrRow(matchers, meter)
  if (glued !== undefined) return glued
  let middle = -1
  for (const [index, { length }] of matchers.entries()) {
    if (length !== ANY_LENGTH && length >= (matchers[middle]?.length ?? ANY_LENGTH)) middle = index
  }
  const value = matchers[middle]
  if (value === undefined) return tree(first, undefined, joined(others, meter))
  const side = (part: readonly Matcher[]): Matcher | undefined =>
    part.length === 0 ? undefined : joined(part, meter)
  return tree(value, side(matchers.slice(0, middle)), side(matchers.slice(middle + 1)))
}

function glueOrRow(matchers: readonly Matcher[], meter: WorkMeter): Matcher | undefined {
  if (matchers.length <= 1) return undefined
  const glued = glue(matchers, meter)
  if (glued !== undefined) return glued
  let length = 0
  for (const matcher of matchers) {
    if (matcher.length === ANY_LENGTH) return undefined
    length += matcher.length
  }
  meter.spend(matchers.length * PART_STEPS)
  return row(length, matchers)
}
