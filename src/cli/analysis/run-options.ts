import type { ServiceOptions } from '../session/service-options.js'

/** The flags of `tidegate analysis list`. */
export interface ListOptions extends ServiceOptions {
  readonly application?: string
  readonly state?: string
  readonly limit: string
}

/** The flags of `tidegate analysis start`: numbers as they were typed. */
export interface StartOptions extends ServiceOptions {
  readonly lifetime?: string
  readonly interval?: string
  readonly pass?: string
  readonly marginal?: string
  readonly execution?: string
  /** In milliseconds since the epoch. */
  readonly canaryStart?: number
  readonly baselineStart?: number
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
export interface ReportOptions extends Omit<ServiceOptions, 'format'> {
  readonly as: 'html' | 'png'
  /** A file; standard output where none is named. */
  readonly output?: string
}
