import { nearestName } from '../../lib/text/nearest-name.js'
import { pathKey } from '../values/path-key.js'
import { packageMatcher } from '../evaluation/select-packages.js'

/** The packages evaluated by path while a pipeline runs. */
const RUNTIME_PACKAGES = 'runtime.**'

/** The caller of a package: `nobody` for packages that only callers who know the path evaluate. */
export type CallerKind = 'static' | 'runtime' | 'nobody'

/**
 * Returns the callers that evaluate packages for verdicts, and the likely place of a package
 * without a caller.
 */
export class EvaluatedPackages {
  readonly #isStatic: (path: string) => boolean
  readonly #isRuntime = packageMatcher([RUNTIME_PACKAGES])
  readonly #starts: readonly string[]

  constructor(staticPatterns: readonly string[]) {
    this.#isStatic = packageMatcher(staticPatterns)
    const starts = [...staticPatterns, RUNTIME_PACKAGES].map(firstSegment)
    this.#starts = starts.filter((segment) => !segment.includes('*'))
  }

  callerKindOf(path: readonly string[]): CallerKind {
    const joined = pathKey(path)
    if (this.#isStatic(joined)) return 'static'
    return this.#isRuntime(joined) ? 'runtime' : 'nobody'
  }

  /**
   * Returns the first segment that the package should have, by its syntax and the directory of its
   * file.
   */
  intendedStart(path: readonly string[], file: string): string | undefined {
    const [first = ''] = path
    if (this.#starts.includes(first)) return undefined
    const directories = file.split(/[\\/]/).slice(0, -1)
    return nearestName(first, this.#starts) ?? this.#starts.find((start) => directories.at(-1) === start)
  }
}

function firstSegment(pattern: string): string {
  return pattern.replace(/^data\./, '').split('.')[0] ?? ''
}
