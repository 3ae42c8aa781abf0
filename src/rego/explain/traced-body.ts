import type { Labels } from './syntax-tree.js'

/** A location in a source file, from 1. */
export interface SourceLocation {
  readonly file: string
  readonly row: number
  readonly col: number
  /** The line of source. */
  readonly source: string
}

/** A rule or function that a condition uses. */
export interface UsedRule {
  /** The path below `data`; it may lead into the value of the rule. */
  readonly path: readonly string[]
  /** The index of the traced operand with the arguments of a function; undefined if not traced. */
  readonly callAt?: number | undefined
  readonly isCall: boolean
}

/** A condition of a body, in the order of evaluation. */
export interface TracedCondition extends SourceLocation {
  readonly text: string
  readonly isNegated: boolean
  /** Source of the operands that markers show. Call arguments follow them. */
  readonly operands: readonly string[]
  readonly uses: readonly UsedRule[]
  /** The body of `every`. */
  readonly every?: TracedBody | undefined
}

/** A body with markers: of a rule, of an `else`, or of `every`. */
export interface TracedBody {
  /** The number in the markers. Bodies of `every` add `/` and a number. */
  readonly id: string
  readonly conditions: readonly TracedCondition[]
  /** Source of the operands of the last marker, after key and value of the head. */
  readonly shown: readonly string[]
  /** The arguments of function calls of the last marker, after `shown`. */
  readonly uses: readonly UsedRule[]
}

/** One definition of a rule, or an `else` of one. */
export interface TracedDefinition extends TracedBody, SourceLocation {
  /** The package path below `data`. */
  readonly packagePath: readonly string[]
  /** The constant path below the package. */
  readonly rulePath: readonly string[]
  /** The first line of the source. */
  readonly text: string
  readonly isDefault: boolean
  readonly isElse: boolean
  readonly isFunction: boolean
  readonly labels: Labels
}

/** The variable for the calculated value of a rule. */
export const RESULT = 'tidegate_result'
