import { AppError } from '../../errors/app-error.js'

/**
 * The remaining budget of an evaluation for work outside the module. Built-ins and readers charge
 * their work before it is done. Methods raise an EvaluationAbort at the limit, which no built-in
 * may catch: otherwise an expression would be undefined and a deny rule silent.
 */
export interface WorkMeter {
  /**
   * Charges work before it is done. A step is one loop iteration of the module, about 10 ns:
   * checking a few characters, or creating a small value. Call it with all steps before work that
   * cannot be interrupted, such as a library call, and about every 1,000 steps in a loop. A call
   * costs a few nanoseconds.
   */
  spend(steps: number): void
  /** Charges bytes of memory outside the module, such as a string that is being built. */
  reserve(bytes: number): void
  /** Ends the evaluation as over its budget. `reason` completes "the evaluation was stopped: …". */
  exceed(reason: string): never
}

/**
 * An unlimited meter, for work outside of evaluations that the input size or a thread's termination
 * limits.
 */
export const UNMETERED_WORK: WorkMeter = {
  spend: () => undefined,
  reserve: () => undefined,
  exceed: (reason) => {
    throw new AppError('invalid', reason)
  },
}
