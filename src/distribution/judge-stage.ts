/** When a stage ends. */
export interface StageBounds {
  readonly minutes: number
  readonly decisions: number
  readonly maxErrors: number
  /** Undefined if other answers are reported only. */
  readonly maxFlips?: number | undefined
}

/** Counts of the decisions of a stage, compared with the policies that serve. */
export interface StageCounts {
  /** Decisions that both revisions answered. */
  readonly compared: number
  /** Decisions with another answer. */
  readonly flips: number
  /** Decisions that only the staged revision could not answer. */
  readonly errors: number
}

/** The end of a stage, with its reason for the trail. */
export interface StageVerdict {
  readonly isPromoted: boolean
  readonly reason: string
}

const MS_PER_MINUTE = 60_000

/** Returns the end of a stage; undefined while it continues. The age is in milliseconds. */
export function judgeStage(
  { minutes, decisions, maxErrors, maxFlips }: StageBounds,
  { compared, flips, errors }: StageCounts,
  ageMs: number,
): StageVerdict | undefined {
  const over = (found: number, most: number, what: string): StageVerdict | undefined =>
    found <= most
      ? undefined
      : {
          isPromoted: false,
          reason: `${found} ${what} in ${compared} compared decisions, at most ${most} allowed`,
        }
  const isOver = over(errors, maxErrors, 'new errors') ?? over(flips, maxFlips ?? Infinity, 'other answers')
  if (isOver !== undefined) return isOver
  if (ageMs < minutes * MS_PER_MINUTE || compared < decisions) return undefined
  return {
    isPromoted: true,
    reason: `${errors} new errors and ${flips} other answers in ${compared} compared decisions`,
  }
}
