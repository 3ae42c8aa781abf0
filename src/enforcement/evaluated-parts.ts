import { hasWarnRule, questionOf } from '../rego/index.js'
import type { AdviceRequest, Level, Snapshot } from '../rego/index.js'
import { levelFor } from './levels.js'
import type { Levels, PackageLevel } from './levels.js'
import type { Subject } from './about/subject.js'

/** The packages of a decision by their effect. */
export interface EvaluatedParts {
  /** The keys of the packages that may deny. Empty if none is evaluated for a verdict. */
  readonly enforced: readonly string[]
  /** What may only warn; undefined if nothing does. */
  readonly advice: AdviceRequest | undefined
}

interface Leveled {
  readonly key: string
  readonly stated: readonly PackageLevel[]
}

/** The packages that callers evaluate together, prepared once for a snapshot. */
interface Prepared {
  readonly leveled: readonly Leveled[]
  /** By the levels of `leveled`, so that equal parts are the same list each time. */
  readonly parts: Map<string, EvaluatedParts>
}

/** Lists by snapshot: static packages, and those of each path. */
export class PartsOfPackages {
  readonly #levels: Levels
  readonly #prepared = new WeakMap<Snapshot, WeakMap<readonly string[], Prepared>>()

  constructor(levels: Levels) {
    this.#levels = levels
  }

  /** Divides packages by their level for a decision. */
  divide(
    snapshot: Snapshot,
    keys: readonly string[],
    mustState: boolean,
    subject: Subject,
    nowMs: number,
  ): EvaluatedParts {
    const { leveled, parts } = this.#prepare(snapshot, keys)
    const levels = leveled.map(({ stated }) => levelFor(stated, subject, nowMs))
    const name = levels.join(' ')
    const known = parts.get(name) ?? dividePackages(snapshot, keys, mustState, byKey(leveled, levels))
    parts.set(name, known)
    return known
  }

  #prepare(snapshot: Snapshot, keys: readonly string[]): Prepared {
    const ofSnapshot = this.#prepared.get(snapshot) ?? new WeakMap<readonly string[], Prepared>()
    this.#prepared.set(snapshot, ofSnapshot)
    const known = ofSnapshot.get(keys)
    if (known !== undefined) return known
    const all = keys.map((key) => ({ key, stated: this.#levels.of(snapshot, key) }))
    const prepared = { leveled: all.filter(({ stated }) => stated.length > 0), parts: new Map() }
    ofSnapshot.set(keys, prepared)
    return prepared
  }
}

function byKey(leveled: readonly Leveled[], levels: readonly Level[]): ReadonlyMap<string, Level> {
  return new Map(leveled.map(({ key }, index) => [key, levels[index] ?? 'enforce']))
}

function dividePackages(
  snapshot: Snapshot,
  keys: readonly string[],
  mustState: boolean,
  levels: ReadonlyMap<string, Level>,
): EvaluatedParts {
  const levelOf = (key: string): Level => levels.get(key) ?? 'enforce'
  const enforced = keys.filter((key) => levelOf(key) === 'enforce')
  const packages = keys.filter((key) => levelOf(key) === 'warn' && statesVerdict(snapshot, key))
  const rules = keys.filter((key) => levelOf(key) !== 'off' && hasWarnRule(snapshot, key))
  const advice = packages.length + rules.length > 0 ? { packages, rules, mustState } : undefined
  // Without any package that may deny, "no verdict" would be an error although all are known to
  // warn only, or to be off.
  const isIntended = enforced.length < keys.length || rules.length > 0
  if (isIntended && !enforced.some((key) => statesVerdict(snapshot, key))) return { enforced: [], advice }
  return { enforced: enforced.length === keys.length ? keys : enforced, advice }
}

function statesVerdict(snapshot: Snapshot, key: string): boolean {
  return snapshot.unanswered.has(key) || questionOf(snapshot, key).parts.length > 0
}
