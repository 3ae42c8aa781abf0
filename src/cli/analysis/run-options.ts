import type { PageOptions, RangeOptions } from '../session/list-options.js'
import type { AddressOptions, ServiceOptions } from '../session/service-options.js'
import type { FileFormOptions } from '../session/shared-options.js'
export interface ListOptions extends ServiceOptions, PageOptions, RangeOptions {
  readonly application?: string
  readonly execution?: string
  readonly state?: string
}

/** Flags of `tidegate analysis start`. Numbers are unparsed. */
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
export interface ReplayOptions extends ServiceOptions {
  readonly judge?: 'default' | 'kayenta'
  readonly interval?: string
  readonly look?: string
}
export interface TryOptions extends ServiceOptions {
  readonly minutes: number
  readonly baseline: Readonly<Record<string, string>>
  readonly canary: Readonly<Record<string, string>>
}
export interface BacktestOptions extends ServiceOptions {
  readonly days: number
  /** Windows a day. */
  readonly windows: number
  readonly baseline: Readonly<Record<string, string>>
}
export interface FeedbackOptions extends ServiceOptions {
  readonly metric: readonly string[]
  readonly comment?: string
}
export interface ShowOptions extends ServiceOptions {
  readonly markdown?: true
}

export const REPORT_FORMS = ['html', 'png'] as const
export interface ReportOptions extends AddressOptions, FileFormOptions<(typeof REPORT_FORMS)[number]> {
  /** Output file; standard output by default. */
  readonly output?: string
}
