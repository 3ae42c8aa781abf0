/** Kept events that are still to be acted on. */
export interface EventQueue {
  /** Marks the event in an audit record. */
  add(seq: number): Promise<void>
  /** The audit records of the oldest waiting events. */
  waiting(limit: number): Promise<readonly number[]>
  /** The event has been acted on. */
  remove(seq: number): Promise<void>
}
