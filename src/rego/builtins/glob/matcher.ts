import type { WorkMeter } from '../../metering/work-meter.js'
import type { Bytes } from './bytes.js'

/** The offset of a match and its possible lengths in bytes, in ascending order. */
export interface Found {
  readonly at: number
  readonly lengths: readonly number[]
}

export interface Matcher {
  readonly kind: MatcherKind
  /** The number of characters it matches; -1 if that varies. */
  readonly length: number
  readonly matches: (text: Bytes, meter: WorkMeter) => boolean
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

/** The length of a matcher without a fixed length. */
export const ANY_LENGTH = -1
