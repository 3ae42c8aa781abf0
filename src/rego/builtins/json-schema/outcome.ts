import type { RegoValue } from '../../values/value.js'

/** One violation: gojsonschema's kind and sentence, and the dotted path of what is wrong. */
export interface Violation {
  readonly field: string
  readonly type: string
  readonly desc: string
}

/** What a check found. The score tells, of several failed alternatives, which one came nearest. */
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

/** Applies one schema to one value that is at `field`. */
export type ApplySchema = (schema: RegoValue, value: RegoValue, field: string) => Outcome

/** A value that a checked schema or a JSON object has as a string anyway: a key, a type, a required name. */
export function textOf(value: RegoValue | undefined): string {
  return typeof value === 'string' ? value : ''
}
