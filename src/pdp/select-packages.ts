import type { Snapshot } from './snapshot.js'

/**
 * The loaded packages (paths joined with `/`) that one of the patterns names. A pattern is a dotted package path in
 * which `*` stands for one segment and `**` for any number, none included: `static.**`. The packages below one that is
 * named belong to it.
 */
export function selectPackages(snapshot: Snapshot, patterns: readonly string[]): string[] {
  return snapshot.packages.filter(packageMatcher(patterns))
}

/** Whether one of the patterns names a package path (joined with `/`), or one above it. */
export function packageMatcher(patterns: readonly string[]): (path: string) => boolean {
  const matchers = patterns.map(toMatcher)
  return (path) => matchers.some((matcher) => matcher.test(`${path}/`))
}

function toMatcher(pattern: string): RegExp {
  const segments = pattern.replace(/^data\./, '').split('.')
  const parts = segments.map((segment) => {
    if (segment === '**') return '(?:[^/]+/)*'
    return `${segment.split('*').map(escapeRegExp).join('[^/]*')}/`
  })
  return new RegExp(`^${parts.join('')}`)
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
