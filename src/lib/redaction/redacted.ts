/** The replacement of a secret. */
export const REDACTION_MARK = '[redacted]'

/** The replacement of a secret as JSON text. */
export const REDACTED: Buffer = Buffer.from(JSON.stringify(REDACTION_MARK))

/** A JSON text with its secrets replaced. */
export interface Redacted {
  readonly text: Buffer
  readonly count: number
  /** Names of the members that contained them. */
  readonly names: readonly string[]
  /** The replaced strings, which other texts may quote. */
  readonly values: readonly string[]
}
