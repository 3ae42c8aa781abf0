import { BoundedCache } from '../../../lib/bounded-cache.js'
import type { WorkMeter } from '../../metering/work-meter.js'
import type { RegoValue } from '../../values/value.js'
import { BuiltinError } from '../shared/builtin.js'
import type { Builtin, BuiltinTable } from '../shared/builtin.js'
import { isArray, operand, stringOperand } from '../shared/operands.js'
import { bytesOf } from './bytes.js'
import type { Bytes } from './bytes.js'
import { ANY_LENGTH } from './matcher.js'
import type { Matcher } from './matcher.js'
import {
  any,
  anyOf,
  everyOf,
  list,
  listOf,
  max,
  min,
  nothing,
  range,
  row,
  single,
  superMatcher,
  tree,
} from './matchers.js'
import type { Any, AnyOf, List, Single, Tree } from './matchers.js'
import { parsePattern, equalNodes } from './parse-pattern.js'
import type { PatternNode, Sequence } from './parse-pattern.js'
import { contains, prefix, prefixAny, prefixSuffix, suffix, suffixAny, text } from './text-matchers.js'
import type { Prefix, Suffix, Text } from './text-matchers.js'

/** Most patterns are literals of the policy. */
const CACHE_SIZE = 256
/** Longer patterns, including delimiters, are not cached, so that the cache stays small. */
const MAX_CACHED_LENGTH = 500
const DEFAULT_DELIMITERS = ['.']
/** Cost in evaluation steps per character of a pattern and of a text. */
const PATTERN_STEPS = 20
const TEXT_STEPS = 1

const compiled = new BoundedCache<Matcher>(CACHE_SIZE, () => 1)

/** `glob.match(pattern, delimiters, text)`, as in OPA's glob library. */
export const globMatch: Builtin = (args, { meter }) => {
  const delimiters = delimitersOf(operand(args, 1))
  const text = stringOperand(args, 2)
  const matcher = matcherOf(stringOperand(args, 0), delimiters, meter)
  meter.spend(text.length * TEXT_STEPS)
  return matcher.matches(bytesOf(text), meter)
}

/** Null means no delimiters; an empty list means a dot. */
function delimitersOf(value: RegoValue): readonly string[] {
  if (!isArray(value)) return []
  if (value.length === 0) return DEFAULT_DELIMITERS
  return value.map((one) => {
    if (typeof one === 'string' && Array.from(one).length === 1) return one
    throw new BuiltinError(
      'operand 2 must be array of runes but got array containing string',
      'eval_type_error',
    )
  })
}

function matcherOf(pattern: string, delimiters: readonly string[], meter: WorkMeter): Matcher {
  // Each delimiter is one character, so their number marks the start of the pattern.
  const key = `${delimiters.length}:${delimiters.join('')}${pattern}`
  const known = compiled.get(key)
  if (known !== undefined) return known
  meter.spend(pattern.length * PATTERN_STEPS)
  const matcher = compileGlob(parsePattern(pattern), delimiters.map(bytesOf), meter)
  if (key.length <= MAX_CACHED_LENGTH) compiled.set(key, matcher)
  return matcher
}

const quoteMeta: Builtin = (args) => stringOperand(args, 0).replace(/[*?\\[\]{}]/g, '\\$&')

export const globQuoteBuiltins: BuiltinTable = { 'glob.quote_meta': quoteMeta }

/** Cost in evaluation steps per part of a pattern. */
const PART_STEPS = 4

interface Wildcards {
  readonly any: Matcher
  readonly single: Matcher
}

/**
 * Compiles a pattern to a matcher. OPA's library rewrites patterns for speed, which changes the
 * matches of some. Each step follows the library.
 */
function compileGlob(pattern: Sequence, separators: readonly Bytes[], meter: WorkMeter): Matcher {
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

/** Combines adjacent matchers while possible: the longest run first. */
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

/** Combines matchers into one: the longest of known length in the middle. */
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

/**
 * Factors out what alternatives begin or end with: `{ab*,ac*}` is `a{b,c}*`. Returns undefined if
 * they share nothing. OPA's common parts are not always those of the alternatives, so this follows
 * OPA exactly.
 */
function shareAlternatives(alternatives: readonly PatternNode[]): Sequence | undefined {
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

/** Returns the common start and end of all alternatives. */
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
      // A part that is shared at the start is not shared at the end as well.
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

/** Steps of checking whether a matcher combines with the first, and of comparing a separator. */
const CHECK_STEPS = 4
const COMPARE_STEPS = 0.5

const isAny = hasKind<Any>('any')
const isAnyOf = hasKind<AnyOf>('any-of')
const isList = hasKind<List>('list')
const isPrefix = hasKind<Prefix>('prefix')
const isSingle = hasKind<Single>('single')
const isSuffix = hasKind<Suffix>('suffix')
const isText = hasKind<Text>('text')
const isTree = hasKind<Tree>('tree')

function hasKind<M extends Matcher>(kind: M['kind']): (matcher: Matcher) => matcher is M {
  return (matcher): matcher is M => matcher.kind === kind
}

/** Returns an equivalent matcher that does less work. */
function simplify(matcher: Matcher): Matcher {
  if (isAny(matcher)) return matcher.separators.length === 0 ? superMatcher : matcher
  if (isAnyOf(matcher)) {
    const [only, ...others] = matcher.matchers
    return only !== undefined && others.length === 0 ? only : matcher
  }
  if (isList(matcher)) {
    const [only, ...others] = matcher.characters
    return only !== undefined && others.length === 0 && !matcher.isNegated ? text(only) : matcher
  }
  return isTree(matcher) ? simplifyTree(matcher) : matcher
}

/** Simplifies a literal next to wildcards. */
function simplifyTree({ value, left: leftSide, right: rightSide }: Tree): Matcher {
  const left = leftSide && simplify(leftSide)
  const right = rightSide && simplify(rightSide)
  const same = (): Matcher => tree(value, left, right)
  if (!isText(value)) return same()
  const literal = value.text
  if (left === undefined) {
    if (right === undefined) return text(literal)
    if (right.kind === 'super') return prefix(literal)
    if (isSuffix(right)) return prefixSuffix(literal, right.suffix)
    return isAny(right) ? prefixAny(literal, right.separators) : same()
  }
  if (right === undefined) {
    if (left.kind === 'super') return suffix(literal)
    if (isPrefix(left)) return prefixSuffix(left.prefix, literal)
    return isAny(left) ? suffixAny(literal, left.separators) : same()
  }
  return left.kind === 'super' && right.kind === 'super' ? contains(literal, false) : same()
}

/** Combines adjacent wildcards over the same separators; undefined if they differ. */
function glue(matchers: readonly Matcher[], meter: WorkMeter): Matcher | undefined {
  const [first] = matchers
  const separators = first && separatorsOf(first)
  if (separators === undefined) return undefined
  const steps = CHECK_STEPS + separators.length * COMPARE_STEPS
  const isAlike = (matcher: Matcher): boolean => {
    meter.spend(steps)
    return sameTexts(separatorsOf(matcher), separators)
  }
  if (!matchers.every(isAlike)) return undefined
  const count = matchers.filter((matcher) => isSingle(matcher) || isList(matcher)).length
  const hasAny = matchers.some(isAny)
  const hasSuper = matchers.some(({ kind }) => kind === 'super')
  if (hasSuper && !hasAny && count === 0) return superMatcher
  if (hasAny && !hasSuper && count === 0) return any(separators)
  if ((hasAny || hasSuper) && count > 0 && separators.length === 0) return min(count)
  const all: Matcher[] = []
  if (count > 0) all.push(min(count))
  if (count > 0 && !hasAny && !hasSuper) all.push(max(count))
  if (separators.length > 0) all.push(contains(separators.join(''), true))
  return everyOf(all)
}

/** Returns the characters that a wildcard does not match. A negated list counts as a wildcard. */
function separatorsOf(matcher: Matcher): readonly Bytes[] | undefined {
  if (matcher.kind === 'super') return []
  if (isAny(matcher) || isSingle(matcher)) return matcher.separators
  return isList(matcher) && matcher.isNegated ? matcher.characters : undefined
}

function sameTexts(a: readonly Bytes[] | undefined, b: readonly Bytes[]): boolean {
  return a === b || (a?.length === b.length && a.every((one, index) => one === b[index]))
}
