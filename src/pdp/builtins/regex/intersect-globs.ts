import { BuiltinError } from '../builtin.js'
import { readGlob } from './glob-tokens.js'
import type { GlobToken } from './glob-tokens.js'

type Glob = readonly GlobToken[]

/** Each flag opens one level of recursion. */
const MAX_FLAGS = 500
/** Comparisons of tokens that one call may make. */
const MAX_STEPS = 5_000_000

/**
 * Whether some text matches both globs, by the rules of OPA's glob intersection: it walks both from the left and lets a
 * starred token take from the other side, so that it misses texts where both sides leave a starred token out.
 * Raises BuiltinError for a bad glob or one too large to compare.
 */
export function globsIntersect(first: string, second: string): boolean {
  const globs = [mergeRepeats(readGlob(first)), mergeRepeats(readGlob(second))] as const
  const flags = [...globs[0], ...globs[1]].filter((token) => token.flag !== 'once').length
  if (flags > MAX_FLAGS) throw new BuiltinError(`globs have more than ${MAX_FLAGS} repeated tokens`)
  const trimmed = trim(...globs)
  return trimmed !== undefined && new GlobPair(...trimmed).intersect()
}

/** Takes repeated tokens of the same characters for one, as OPA does: `a*a+` for `a+`, and also `a+a+` for `a+`. */
function mergeRepeats(glob: Glob): Glob {
  const merged: GlobToken[] = []
  for (const token of glob) {
    const last = merged.at(-1)
    const isRepeat =
      last !== undefined && last.flag !== 'once' && token.flag !== 'once' && sameRanges(last, token)
    if (!isRepeat) merged.push(token)
    else if (token.flag === 'plus') merged[merged.length - 1] = token
  }
  return merged
}

function sameRanges(a: GlobToken, b: GlobToken): boolean {
  return JSON.stringify(a.ranges) === JSON.stringify(b.ranges)
}

/** Cuts what plainly matches off both ends, but one token; undefined when an end does not match. */
function trim(a: Glob, b: Glob): [Glob, Glob] | undefined {
  let left = 0
  while (bothOnce(a[left], b[left])) {
    if (!overlap(a[left], b[left])) return undefined
    left++
  }
  left = Math.max(0, left - 1)
  let cut = 0
  const shorter = Math.min(a.length, b.length) - left
  while (cut < shorter && bothOnce(a.at(-1 - cut), b.at(-1 - cut))) {
    if (!overlap(a.at(-1 - cut), b.at(-1 - cut))) return undefined
    cut++
  }
  cut = Math.max(0, cut - 1)
  return [a.slice(left, a.length - cut), b.slice(left, b.length - cut)]
}

class GlobPair {
  readonly #globs: readonly [Glob, Glob]
  readonly #known = new Map<string, boolean>()
  #steps = 0

  constructor(a: Glob, b: Glob) {
    this.#globs = [a, b]
  }

  intersect(): boolean {
    return this.#walk(0, 0, 0)
  }

  /** Whether the rest of glob `side` from `i` meets the rest of the other from `j`; each answer is found once. */
  #walk(side: 0 | 1, i: number, j: number): boolean {
    const key = `${side}:${i}:${j}`
    const known = this.#known.get(key) ?? this.#walkAnew(side, i, j)
    this.#known.set(key, known)
    return known
  }

  #walkAnew(side: 0 | 1, from: number, otherFrom: number): boolean {
    const other = side === 0 ? 1 : 0
    let i = from
    let j = otherFrom
    for (; ; i++, j++) {
      const token = this.#globs[side][i]
      const otherToken = this.#globs[other][j]
      if (token === undefined || otherToken === undefined) return token === otherToken
      if (token.flag !== 'once') return this.#repeat(side, i, j)
      if (otherToken.flag !== 'once') return this.#repeat(other, j, i)
      if (!this.#overlap(token, otherToken)) return false
    }
  }

  /** The repeated token at `i` of `side` takes tokens of the other glob until the rests meet. */
  #repeat(side: 0 | 1, i: number, from: number): boolean {
    const other = this.#globs[side === 0 ? 1 : 0]
    const repeated = this.#globs[side][i]
    const next = this.#globs[side][i + 1]
    let j = from
    if (repeated?.flag === 'plus') {
      if (!this.#overlap(repeated, other[j])) return false
      // A repeated token on the other side has more to give.
      if (other[j]?.flag === 'once') j++
    }
    for (; j < other.length; j++) {
      if (next !== undefined && this.#overlap(other[j], next) && this.#walk(side, i + 1, j)) return true
      if (!this.#overlap(other[j], repeated)) return false
    }
    return next === undefined
  }

  #overlap(a: GlobToken | undefined, b: GlobToken | undefined): boolean {
    if (++this.#steps > MAX_STEPS) throw new BuiltinError('globs are too large to compare')
    return overlap(a, b)
  }
}

function bothOnce(a: GlobToken | undefined, b: GlobToken | undefined): boolean {
  return a?.flag === 'once' && b?.flag === 'once'
}

function overlap(a: GlobToken | undefined, b: GlobToken | undefined): boolean {
  if (a === undefined || b === undefined) return false
  const { ranges } = a
  const others = b.ranges
  if (ranges === 'any' || others === 'any') return true
  return ranges.some(([low, high]) => others.some((range) => range[0] <= high && low <= range[1]))
}
