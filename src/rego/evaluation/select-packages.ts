import { pathOfKey } from '../values/path-key.js'
import type { Snapshot } from '../snapshot/snapshot.js'

interface Selection {
  readonly patterns: readonly string[]
  readonly keys: readonly string[]
}

/** What was selected last: a service has one list of patterns. */
const selections = new WeakMap<Snapshot, Selection>()

/**
 * The keys of the loaded packages that one of the patterns names. A pattern is a dotted package path in which `*` stands
 * for any text within one segment and `**` for any number of segments, none included: `static.**`. The packages below one
 * that is named belong to it.
 */
export function selectPackages(snapshot: Snapshot, patterns: readonly string[]): readonly string[] {
  const known = selections.get(snapshot)
  if (known?.patterns === patterns) return known.keys
  const keys = snapshot.packages.filter(packageMatcher(patterns))
  selections.set(snapshot, { patterns, keys })
  return keys
}

/** Whether one of the patterns names the package of a key, or one above it. */
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

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
