import type { ErrorDetail } from '../errors/app-error.js'
import { readIsoTime } from '../lib/clocks/iso-time.js'
import { packageMatcher, pathOfKey, printPackageName } from '../rego/index.js'
import type { Level, Snapshot, StatedLevel } from '../rego/index.js'
import type { Subject } from './about/subject.js'

/** An entry of `policies.levels`. */
export interface LevelEntry {
  readonly package: string
  readonly level: Level
  readonly applications?: readonly string[] | undefined
  /** ISO 8601. */
  readonly until?: string | undefined
  readonly reason?: string | undefined
}

/** A level of a package, and where it is stated. */
export interface PackageLevel extends StatedLevel {
  /** The pattern in the configuration; absent for an annotation. */
  readonly pattern?: string
}

/** An entry with a check of package keys. */
interface Matching {
  readonly level: PackageLevel & { readonly pattern: string }
  readonly matches: (key: string) => boolean
}

/** The levels of the configuration. */
export class Levels {
  readonly #entries: readonly Matching[]

  constructor(entries: readonly LevelEntry[]) {
    this.#entries = entries.map(({ package: pattern, until, ...stated }) => ({
      level: {
        ...stated,
        pattern,
        untilMs: until === undefined ? undefined : readIsoTime(until, 'utc'),
      },
      matches: packageMatcher([pattern]),
    }))
  }

  /** Returns the levels stated for a package, in order of precedence. */
  of({ declaredLevels }: Pick<Snapshot, 'declaredLevels'>, key: string): readonly PackageLevel[] {
    const declared = declaredLevels.get(key)
    return [
      ...this.#entries.filter(({ matches }) => matches(key)).map(({ level }) => level),
      ...(declared === undefined ? [] : [declared]),
    ]
  }

  /** Returns entries that do nothing: for packages that are not loaded, and after their end. */
  problems({ packages, declaredLevels }: Snapshot, nowMs: number): readonly ErrorDetail[] {
    const unknown = this.#entries
      .filter(({ matches }) => !packages.some(matches))
      .map(({ level: { pattern, level } }) => ({
        code: 'unknown_package',
        message: `policies.levels: no loaded package matches ${pattern}, so its level ${level} does nothing`,
      }))
    const ended = this.#entries
      .filter(({ level }) => hasEnded(level, nowMs))
      .map(({ level }) => endedLevel(`policies.levels: ${level.pattern}`, level))
    const declared = [...declaredLevels]
      .filter(([, stated]) => hasEnded(stated, nowMs))
      .map(([key, stated]) =>
        endedLevel(`custom.level of package ${printPackageName(pathOfKey(key))}`, stated),
      )
    return [...unknown, ...ended, ...declared]
  }
}

/**
 * Returns the level of a package for a decision: the first that applies, else `enforce`. A level
 * that has ended enforces. A level for some applications applies if the input is about these alone,
 * and `enforce` even if it only mentions one.
 */
export function levelFor(stated: readonly StatedLevel[], subject: Subject, nowMs: number): Level {
  for (const one of stated) {
    const level = hasEnded(one, nowMs) ? 'enforce' : one.level
    const { applications } = one
    if (applications === undefined) return level
    if (level === 'enforce' ? subject.mentions(applications) : subject.isOnlyAbout(applications)) return level
  }
  return 'enforce'
}

function hasEnded({ untilMs = Infinity, level }: StatedLevel, nowMs: number): boolean {
  return level !== 'enforce' && nowMs >= untilMs
}

function endedLevel(what: string, { level, untilMs = 0 }: StatedLevel): ErrorDetail {
  return {
    code: 'ended_level',
    message: `${what}: ${level} ended at ${new Date(untilMs).toISOString()}, so the package is enforced`,
  }
}
