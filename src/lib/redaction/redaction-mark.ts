/** What stands where something secret stood. */
export const REDACTION_MARK = '[redacted]'
