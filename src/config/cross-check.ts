import type { Config } from './config.js'

/** A rule that several keys must keep together. */
export interface CrossCheck {
  readonly code: string
  /** The keys that the rule reads; the first is the one to blame. */
  readonly paths: readonly (readonly [string, ...string[]])[]
  /** What is wrong, or undefined. */
  readonly check: (config: Config) => string | undefined
}
