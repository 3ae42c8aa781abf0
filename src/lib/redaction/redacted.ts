/** What stands where something secret stood. */
export const REDACTION_MARK = '[redacted]'

/** What is written instead of a secret: a JSON text. */
export const REDACTED: Buffer = Buffer.from(JSON.stringify(REDACTION_MARK))

/** A JSON text in which secrets were replaced. */
export interface Redacted {
  readonly text: Buffer
  /** How many values were replaced. */
  readonly count: number
  /** The names of the members that held them. */
  readonly names: readonly string[]
  /** The texts that were replaced, which other texts may quote. */
  readonly values: readonly string[]
}
