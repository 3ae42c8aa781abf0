import type { PageOptions, RangeOptions } from '../session/list-options.js'
import type { ServiceOptions } from '../session/service-options.js'

/** The flags of `tidegate analysis list`. */
export interface ListOptions extends ServiceOptions, PageOptions, RangeOptions {
  readonly application?: string
  readonly execution?: string
  readonly state?: string
}

/** The flags of `tidegate analysis start`: numbers as they were typed. */
export interface StartOptions extends ServiceOptions {
  readonly lifetime?: string
  readonly interval?: string
  readonly pass?: string
  readonly marginal?: string
  readonly execution?: string
  /** ISO 8601. */
  readonly canaryStart?: string
  readonly baselineStart?: string
  readonly wait?: true
}

/** The flags of `tidegate analysis replay`. */
export interface ReplayOptions extends ServiceOptions {
  readonly judge?: 'default' | 'kayenta'
  readonly interval?: string
  /** `interval` as the flag was once called. */
  readonly look?: string
}

/** Flags of `tidegate analysis try`. */
export interface TryOptions extends ServiceOptions {
  readonly minutes: number
  readonly baseline: Readonly<Record<string, string>>
  readonly canary: Readonly<Record<string, string>>
}

/** The flags of `tidegate analysis show`. */
export interface ShowOptions extends ServiceOptions {
  readonly markdown?: true
}

/** The flags of `tidegate analysis report`. */
export interface ReportOptions extends ServiceOptions {
  readonly as: 'html' | 'png'
  /** A file; standard output where none is named. */
  readonly output?: string
}
