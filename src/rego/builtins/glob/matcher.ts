import type { WorkMeter } from '../../metering/work-meter.js'
import type { Bytes } from './bytes.js'

/** Where a matcher matches in a text, and how many bytes from there on, in rising order. */
export interface Found {
  readonly at: number
  readonly lengths: readonly number[]
}

/** Part of a compiled pattern. */
export interface Matcher {
  readonly kind: MatcherKind
  /** How many characters it matches; -1 where that depends. */
  readonly length: number
  /** Whether it matches a whole text. */
  readonly matches: (text: Bytes, meter: WorkMeter) => boolean
  /** The first place that it is found at. */
  readonly find: (text: Bytes, meter: WorkMeter) => Found | undefined
}

export type MatcherKind =
  | 'any'
  | 'any-of'
  | 'contains'
  | 'every-of'
  | 'list'
  | 'max'
  | 'min'
  | 'nothing'
  | 'prefix'
  | 'prefix-any'
  | 'prefix-suffix'
  | 'range'
  | 'row'
  | 'single'
  | 'suffix'
  | 'suffix-any'
  | 'super'
  | 'text'
  | 'tree'

/** The length of what has none of its own. */
export const ANY_LENGTH = -1
