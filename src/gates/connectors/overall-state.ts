/** What one check, build or pipeline says of a commit. */
export type CheckState = 'success' | 'failure' | 'pending'

/** All of them together: one failure fails, one that runs keeps waiting, and `none` says that there is none. */
export function overallState(states: readonly CheckState[]): CheckState | 'none' {
  if (states.includes('failure')) return 'failure'
  if (states.includes('pending')) return 'pending'
  return states.length === 0 ? 'none' : 'success'
}
