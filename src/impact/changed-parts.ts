import { AppError } from '../errors/app-error.js'
import {
  changedPaths,
  parseDataPath,
  pathOfKey,
  type KeptSources,
  type RevisionSources,
} from '../rego/index.js'
import type { AffectedPackages } from './compare-cases.js'
import type { Sides } from './evaluate-case.js'
import type { ReplayCase } from './replay-case.js'

/** Whether the document at a path below `data` may differ between two revisions. */
export type IsChanged = (path: readonly string[]) => boolean

/** Clients choose the paths of decisions, so there may be any number. */
const MAX_PATHS = 4096

/** What two revisions may answer differently, by their sources. */
export class ChangedParts {
  readonly #isChanged: IsChanged
  /** The static packages that may differ. */
  readonly affected: AffectedPackages
  readonly #isStaticAffected: boolean
  readonly #byPath = new Map<string, boolean>()

  constructor(isChanged: IsChanged, sides: Pick<Sides, 'before' | 'after'>) {
    this.#isChanged = isChanged
    const isAffected = (key: string): boolean => isChanged(pathOfKey(key))
    const before = sides.before.packages.filter(isAffected)
    const after = sides.after.packages.filter(isAffected)
    this.affected = { before, after }
    this.#isStaticAffected = before.length + after.length > 0
  }

  /** False if nothing that a case is about has changed. */
  mayDiffer({ kind, path }: ReplayCase): boolean {
    if (kind === 'static') return this.#isStaticAffected
    const known = this.#byPath.get(path)
    if (known !== undefined) return known
    if (this.#byPath.size >= MAX_PATHS) this.#byPath.clear()
    const mayDiffer = this.#isPathChanged(path)
    this.#byPath.set(path, mayDiffer)
    return mayDiffer
  }

  #isPathChanged(path: string): boolean {
    try {
      return this.#isChanged(parseDataPath(path))
    } catch (raw) {
      if (raw instanceof AppError) return true
      throw raw
    }
  }
}

/**
 * Compares the sources of two revisions. Undefined if what changed is unknown, because sources are
 * incomplete.
 */
export function changedBetween(
  before: KeptSources | undefined,
  after: RevisionSources | undefined,
): IsChanged | undefined {
  if (before === undefined || after === undefined) return undefined
  const opaque = before.withoutRego.length + after.withoutRego.length
  return opaque === 0 && before.dataBytesLeftOut === 0 ? changedPaths(before, after) : undefined
}
