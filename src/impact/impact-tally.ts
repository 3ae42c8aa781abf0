import type { PackageDenials } from '../rego/index.js'
import { changeOf, changedPackages } from './compare-answers.js'
import type { Change } from './compare-answers.js'
import { CostTally } from './cost-tally.js'
import type { CaseAnswer, CaseAnswers } from './evaluate-case.js'
import type { ChangeCounts, Flip, ImpactResult } from './impact-result.js'
import type { CaseOrigin, NotReplayable, NotReplayableReason, ReplayCase } from './replay-case.js'

/** Limits of the lists in a result. Counts are always complete. */
export interface TallyBounds {
  readonly maxFlips: number
  /** Total length of listed flips as JSON, in characters. */
  readonly maxFlipChars: number
}

export const DEFAULT_TALLY_BOUNDS: TallyBounds = { maxFlips: 1000, maxFlipChars: 4 * 1024 * 1024 }

/** Groups counted apart. Further names are counted together. */
const MAX_GROUPS = 2000
const OTHERS = '(others)'
/** Name of the group of cases without an application. */
const NO_APPLICATION = '(none)'
const MAX_LISTED_NOT_REPLAYABLE = 200

/** Counts the differences between two revisions. */
export class ImpactTally {
  readonly #bounds: TallyBounds
  readonly #compared: Record<CaseOrigin, number> = { decision: 0, pipeline: 0, input: 0 }
  readonly #changes: Counts = new Map()
  readonly #byPackage = new Map<string, Counts>()
  readonly #byApplication = new Map<string, Counts>()
  readonly #flips: Flip[] = []
  readonly #notReplayable: NotReplayable[] = []
  readonly #reasons = new Map<NotReplayableReason, number>()
  readonly #cost = { before: new CostTally(), after: new CostTally() }
  #flipChars = 0
  #flipsLeftOut = 0
  #bothFail = 0
  #unchanged = 0

  constructor(bounds: TallyBounds = DEFAULT_TALLY_BOUNDS) {
    this.#bounds = bounds
  }

  /** Number of cases so far. */
  get seen(): number {
    return this.compared + [...this.#reasons.values()].reduce((sum, count) => sum + count, 0)
  }

  get compared(): number {
    const { decision, pipeline, input } = this.#compared
    return decision + pipeline + input
  }

  /** Number of cases that both revisions answer differently. */
  get flips(): number {
    return this.#flips.length + this.#flipsLeftOut
  }

  addNotReplayable(found: NotReplayable): void {
    this.#reasons.set(found.reason, (this.#reasons.get(found.reason) ?? 0) + 1)
    if (this.#notReplayable.length < MAX_LISTED_NOT_REPLAYABLE) this.#notReplayable.push(found)
  }

  /** Adds a case that both revisions answer alike, as their sources show. */
  addAlike({ origin }: ReplayCase): void {
    this.#compared[origin] += 1
    this.#unchanged += 1
  }

  add(replayed: ReplayCase, answers: CaseAnswers): void {
    const { before, after } = answers
    this.#compared[replayed.origin] += 1
    this.#cost.before.add(before.durationMs)
    this.#cost.after.add(after.durationMs)
    const change = changeOf(answers)
    if (change === undefined) {
      if (before.outcome === 'error') this.#bothFail += 1
      else this.#unchanged += 1
      return
    }
    const [old, now] =
      change === 'warnings' ? [before.warnings, after.warnings] : [before.reasons, after.reasons]
    const packages = changedPackages(old, now)
    count(this.#changes, change)
    count(groupOf(this.#byApplication, replayed.application ?? NO_APPLICATION), change)
    for (const name of packages) count(groupOf(this.#byPackage, name), change)
    this.#list(toFlip(replayed, answers, change, packages))
  }

  /** Returns the result so far. */
  result(about: Pick<ImpactResult, 'candidate' | 'against' | 'isPartial' | 'notes'>): ImpactResult {
    const { decision, pipeline, input } = this.#compared
    return {
      ...about,
      compared: { decisions: decision, pipelines: pipeline, inputs: input, total: this.compared },
      unchanged: this.#unchanged,
      changes: countsOf(this.#changes),
      bothFail: this.#bothFail,
      byPackage: listGroups(this.#byPackage).map(([name, changes]) => ({ package: name, changes })),
      byApplication: listGroups(this.#byApplication).map(([application, changes]) => ({
        application,
        changes,
      })),
      flips: this.#flips,
      flipsLeftOut: this.#flipsLeftOut,
      notReplayable: {
        total: this.seen - this.compared,
        byReason: Object.fromEntries(this.#reasons),
        listed: this.#notReplayable,
      },
      cost: {
        evaluations: this.#cost.before.count,
        before: this.#cost.before.cost,
        after: this.#cost.after.cost,
      },
    }
  }

  #list(flip: Flip): void {
    const { maxFlips, maxFlipChars } = this.#bounds
    const length = this.#flips.length < maxFlips ? JSON.stringify(flip).length : 0
    if (length === 0 || this.#flipChars + length > maxFlipChars) {
      this.#flipsLeftOut += 1
      return
    }
    this.#flipChars += length
    this.#flips.push(flip)
  }
}

type Counts = Map<Change, number>

function count(counts: Counts, change: Change): void {
  counts.set(change, (counts.get(change) ?? 0) + 1)
}

function groupOf(groups: Map<string, Counts>, name: string): Counts {
  const key = groups.has(name) || groups.size < MAX_GROUPS ? name : OTHERS
  const found = groups.get(key) ?? new Map<Change, number>()
  groups.set(key, found)
  return found
}

function countsOf(counts: Counts): ChangeCounts {
  return Object.fromEntries(counts)
}

/** Returns the groups with the most changes first. */
function listGroups(groups: ReadonlyMap<string, Counts>): (readonly [string, ChangeCounts])[] {
  const total = (counts: Counts): number => [...counts.values()].reduce((sum, each) => sum + each, 0)
  return [...groups]
    .sort(([a, one], [b, other]) => total(other) - total(one) || (a < b ? -1 : 1))
    .map(([name, counts]) => [name, countsOf(counts)] as const)
}

function toFlip(
  { origin, id, name, kind, path, application, executionId, timeMs }: ReplayCase,
  { before, after }: CaseAnswers,
  change: Change,
  packages: readonly string[],
): Flip {
  return {
    ...{ origin, id, change, kind, path },
    ...(name !== undefined && { name }),
    ...(application !== undefined && { application }),
    ...(executionId !== undefined && { executionId }),
    time: new Date(timeMs).toISOString(),
    packages: [...packages],
    before: sideOf(before, change),
    after: sideOf(after, change),
  }
}

/** A value may be as large as a decision's result, so a long one is cut. */
const MAX_VALUE_LENGTH = 4096

function sideOf({ outcome, reasons, warnings, value, error }: CaseAnswer, change: Change): Flip['before'] {
  return {
    outcome,
    ...(reasons.length > 0 && { reasons: reasons.map(listed) }),
    ...(warnings.length > 0 && { warnings: warnings.map(listed) }),
    ...(change === 'value' && value !== undefined && { value: shownValue(value) }),
    ...(error !== undefined && { error }),
  }
}

function shownValue(text: string): unknown {
  return text.length > MAX_VALUE_LENGTH
    ? `${text.slice(0, MAX_VALUE_LENGTH)}…`
    : (JSON.parse(text) as unknown)
}

function listed({ package: name, deny }: PackageDenials): { package: string; deny: string[] } {
  return { package: name, deny: [...deny] }
}
