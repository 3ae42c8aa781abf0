import type { FromSlowThread, ToSlowThread } from './messages.js'

/** A thread that evaluates. It knows nothing of budgets from outside: who started it kills it. */
export interface SlowThread {
  readonly send: (message: ToSlowThread) => void
  /** Ends it at once, whatever it is doing. */
  readonly kill: () => void
}

/** What is heard of a thread. */
export interface SlowThreadEvents {
  readonly heard: (message: FromSlowThread) => void
  /** It ended without having been killed: its memory did not suffice, or it is defective. */
  readonly ended: (problem: { readonly isOutOfMemory: boolean; readonly cause: Error | undefined }) => void
}

export type StartSlowThread = (events: SlowThreadEvents) => SlowThread
