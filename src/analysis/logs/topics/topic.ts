/** How bad a line is; lines that no topic names are none of these. */
export const SEVERITIES = ['critical', 'error', 'warn', 'ignore'] as const
export type Severity = (typeof SEVERITIES)[number]

/** A text that tells the severity of the lines it stands in. */
export interface Topic {
  readonly string: string
  readonly severity: Severity
}
