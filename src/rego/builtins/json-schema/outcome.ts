import type { RegoValue } from '../../values/value.js'

/** One violation: gojsonschema's type and description, and the dotted path of the field. */
export interface Violation {
  readonly field: string
  readonly type: string
  readonly desc: string
}

/** The result of a check. Among failed alternatives, the highest score is the closest match. */
export class Outcome {
  readonly violations: Violation[] = []
  score = 0

  get isValid(): boolean {
    return this.violations.length === 0
  }

  add(field: string, type: string, desc: string): void {
    this.violations.push({ field, type, desc })
    this.score -= 2
  }

  merge(other: Outcome): void {
    for (const violation of other.violations) this.violations.push(violation)
    this.score += other.score
  }
}

export type ApplySchema = (schema: RegoValue, value: RegoValue, field: string) => Outcome

/** Returns the text of a value that is known to be a string, such as a key or a required name. */
export function textOf(value: RegoValue | undefined): string {
  return typeof value === 'string' ? value : ''
}
