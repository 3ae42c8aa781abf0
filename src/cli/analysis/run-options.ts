import type { PageOptions, RangeOptions } from '../session/list-options.js'
import type { AddressOptions, ServiceOptions } from '../session/service-options.js'
import type { FileFormOptions } from '../session/shared-options.js'

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

export const REPORT_FORMS = ['html', 'png'] as const

/** The flags of `tidegate analysis report`. */
export interface ReportOptions extends AddressOptions, FileFormOptions<(typeof REPORT_FORMS)[number]> {
  /** A file; standard output where none is named. */
  readonly output?: string
}
