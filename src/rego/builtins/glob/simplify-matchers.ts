import type { WorkMeter } from '../../metering/work-meter.js'
import type { Bytes } from './bytes.js'
import type { List, Single } from './character-matchers.js'
import { everyOf, tree } from './compound-matchers.js'
import type { AnyOf, Tree } from './compound-matchers.js'
import type { Matcher } from './matcher.js'
import { contains, prefix, prefixAny, prefixSuffix, suffix, suffixAny, text } from './text-matchers.js'
import type { Prefix, Suffix, Text } from './text-matchers.js'
import { any, max, min, superMatcher } from './wildcard-matchers.js'
import type { Any } from './wildcard-matchers.js'

/** Steps of looking whether one matcher goes with the first, and of comparing a separator of both. */
const LOOK_STEPS = 4
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

/** A matcher that does the same with less work. */
export function simplify(matcher: Matcher): Matcher {
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

/** A literal between wildcards, or beside one. */
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

/** One matcher for neighbours that are all wildcards over the same separators; undefined where they are not. */
export function glue(matchers: readonly Matcher[], meter: WorkMeter): Matcher | undefined {
  const [first] = matchers
  const separators = first && separatorsOf(first)
  if (separators === undefined) return undefined
  const steps = LOOK_STEPS + separators.length * COMPARE_STEPS
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

/** What a wildcard does not match: a negated list counts as one, with its characters as separators. */
function separatorsOf(matcher: Matcher): readonly Bytes[] | undefined {
  if (matcher.kind === 'super') return []
  if (isAny(matcher) || isSingle(matcher)) return matcher.separators
  return isList(matcher) && matcher.isNegated ? matcher.characters : undefined
}

function sameTexts(a: readonly Bytes[] | undefined, b: readonly Bytes[]): boolean {
  return a === b || (a?.length === b.length && a.every((one, index) => one === b[index]))
}
