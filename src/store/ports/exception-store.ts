/** A permission for denials of a package, until an end. */
export interface PolicyException {
  readonly id: number
  /** In Rego syntax, without `data`. */
  readonly package: string
  /** All applications if absent. */
  readonly application?: string | undefined
  /** Name or id of a pipeline of the application; all if absent. */
  readonly pipeline?: string | undefined
  readonly reason: string
  /** The user who added it. */
  readonly owner: string
  readonly createdMs: number
  /** Its end, in epoch milliseconds. */
  readonly untilMs: number
  /** Whether a second person must approve it before it takes effect. */
  readonly needsApproval: boolean
  readonly approver?: string | undefined
  readonly approvedMs?: number | undefined
  /** When its approaching end was recorded. */
  readonly noticedMs?: number | undefined
}

/** An exception without what the store adds. */
export type NewException = Omit<PolicyException, 'id' | 'approver' | 'approvedMs' | 'noticedMs'>

export interface ExceptionReader {
  /** All stored exceptions, in the order of their ids. */
  all(): Promise<readonly PolicyException[]>
  /** A text that changes with every change that matters to decisions; undefined if there are none. */
  version(): Promise<string | undefined>
}

export interface ExceptionRepository extends ExceptionReader {
  find(id: number): Promise<PolicyException | undefined>
  /** Exceptions of a package with an end after a time. */
  ofPackage(name: string, afterMs: number): Promise<readonly PolicyException[]>
  /** Number of exceptions with an end after a time. */
  count(afterMs: number): Promise<number>
  add(added: NewException): Promise<PolicyException>
  update(changed: PolicyException): Promise<void>
  remove(id: number): Promise<void>
  /** Exceptions that end between two times and were not noticed. */
  expiring(afterMs: number, beforeMs: number, limit: number): Promise<readonly PolicyException[]>
  /** Removes exceptions that ended before a time. Returns their number. */
  removeEnded(beforeMs: number): Promise<number>
}
