import { AppError } from '../errors/app-error.js'
import {
  changedPaths,
  parseDataPath,
  pathOfKey,
  type KeptSources,
  type ReplayedCalls,
  type RevisionSources,
} from '../rego/index.js'
import { changeOf } from './compare-answers.js'
import { recordedCallsOf } from './evaluate-case.js'
import type { CaseAnswer, CaseEvaluator, Sides } from './evaluate-case.js'
import type { ReplayCase } from './replay-case.js'

/** Whether the document at a path below `data` may differ between two revisions. */
export type IsChanged = (path: readonly string[]) => boolean

/** The keys of the static packages to evaluate with each revision; undefined for all. */
interface Affected {
  readonly before: readonly string[] | undefined
  readonly after: readonly string[] | undefined
}

const ALL: Affected = { before: undefined, after: undefined }
const NOTHING: CaseAnswer = { outcome: 'allow', reasons: [], warnings: [], durationMs: 0 }
/** Clients choose the paths of decisions, so there may be any number. */
const MAX_PATHS = 4096

/** Evaluates only the packages that two revisions may answer differently, by their sources. */
export class ChangedParts {
  readonly #isChanged: IsChanged
  readonly #sides: Sides
  readonly #static: Affected | undefined
  readonly #byPath = new Map<string, Affected | undefined>()

  constructor(isChanged: IsChanged, sides: Sides) {
    this.#isChanged = isChanged
    this.#sides = sides
    const isAffected = (key: string): boolean => isChanged(pathOfKey(key))
    const before = sides.before.packages.filter(isAffected)
    const after = sides.after.packages.filter(isAffected)
    this.#static = before.length + after.length > 0 ? { before, after } : undefined
  }

  /**
   * Whether both revisions answer the changed part of a case alike and without an error. The whole
   * case is then answered alike, too.
   */
  async answerAlike(replayed: ReplayCase): Promise<boolean> {
    const affected = this.#affected(replayed)
    if (affected === undefined) return true
    const calls = recordedCallsOf(replayed)
    const before = await evaluatePart(this.#sides.before, replayed, calls, affected.before)
    if (before === undefined || before.outcome === 'error') return false
    const after = await evaluatePart(this.#sides.after, replayed, calls, affected.after)
    if (after === undefined || after.outcome === 'error') return false
    return changeOf({ before, after }) === undefined
  }

  /** Undefined if nothing that the case is about has changed. */
  #affected({ kind, path }: ReplayCase): Affected | undefined {
    if (kind === 'static') return this.#static
    if (!this.#byPath.has(path)) {
      if (this.#byPath.size >= MAX_PATHS) this.#byPath.clear()
      this.#byPath.set(path, this.#mayDiffer(path) ? ALL : undefined)
    }
    return this.#byPath.get(path)
  }

  #mayDiffer(path: string): boolean {
    try {
      return this.#isChanged(parseDataPath(path))
    } catch (raw) {
      if (raw instanceof AppError) return true
      throw raw
    }
  }
}

async function evaluatePart(
  evaluator: CaseEvaluator,
  replayed: ReplayCase,
  calls: ReplayedCalls,
  packages: readonly string[] | undefined,
): Promise<CaseAnswer | undefined> {
  return packages?.length === 0 ? NOTHING : await evaluator.evaluate(replayed, calls, packages)
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
