/**
 * How denials of a package count: `enforce` denies, `warn` makes them warnings, `off` does not
 * evaluate the package.
 */
export const LEVELS = ['enforce', 'warn', 'off'] as const
export type Level = (typeof LEVELS)[number]

/** A level with its limits, as an annotation or the configuration states it. */
export interface StatedLevel {
  readonly level: Level
  /** The applications that it applies to; all if absent. */
  readonly applications?: readonly string[] | undefined
  /** Its end, in epoch milliseconds. The package is enforced from then on. */
  readonly untilMs?: number | undefined
  readonly reason?: string | undefined
}
