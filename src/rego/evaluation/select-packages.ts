import { escapeRegExp } from '../../lib/text/escape-pattern.js'
import { pathOfKey } from '../values/path-key.js'
import type { Snapshot } from '../snapshot/snapshot.js'

interface Selection {
  readonly patterns: readonly string[]
  readonly keys: readonly string[]
}

/** The last selection. A service has one list of patterns. */
const selections = new WeakMap<Snapshot, Selection>()

/**
 * Returns the keys of loaded packages that match a pattern: a dotted path with `*` for any text
 * within a segment and `**` for any number of segments, as in `static.**`. Packages below a match
 * are included.
 */
export function selectPackages(snapshot: Snapshot, patterns: readonly string[]): readonly string[] {
  const known = selections.get(snapshot)
  if (known?.patterns === patterns) return known.keys
  const keys = snapshot.packages.filter(packageMatcher(patterns))
  selections.set(snapshot, { patterns, keys })
  return keys
}

/** True if a pattern matches the package of a key, or one above it. */
export function packageMatcher(patterns: readonly string[]): (key: string) => boolean {
  const parsed = patterns.map(parsePattern)
  return (key) => {
    const path = pathOfKey(key)
    return parsed.some((pattern) => startsLike(path, pattern))
  }
}

type Step = RegExp | 'any number'

function parsePattern(pattern: string): Step[] {
  const segments = pattern.replace(/^data\./, '').split('.')
  return segments.map((segment) =>
    segment === '**' ? 'any number' : new RegExp(`^${segment.split('*').map(escapeRegExp).join('.*')}$`, 's'),
  )
}

function startsLike(path: readonly string[], [step, ...rest]: readonly Step[]): boolean {
  if (step === undefined) return true
  if (step === 'any number')
    return path.some((_, from) => startsLike(path.slice(from), rest)) || rest.length === 0
  const [segment, ...below] = path
  return segment !== undefined && step.test(segment) && startsLike(below, rest)
}
