import { AppError } from '../../errors/app-error.js'

/**
 * What an evaluation has left, for work that is done outside the module: built-ins and readers pay for what they are about to
 * do. Every method raises an EvaluationAbort, which no built-in may catch, when the evaluation has to end: a limit of ours must
 * never look like an expression that is undefined, or a deny rule would stay silent.
 */
export interface WorkMeter {
  /**
   * Pays for work before it is done. A step is what the module does in one loop iteration, some 10 ns: looking at a few
   * characters, building one small value. Call it with all of the steps at once where the work cannot be interrupted, as for
   * one call of a library, and every now and then (some 1,000 steps) in a loop of ours. Calling it costs a few nanoseconds.
   */
  spend(steps: number): void
  /** Pays for bytes of memory that are about to be held beside the module's, such as a text that is being built. */
  reserve(bytes: number): void
  /** Ends the evaluation as over its budget. `reason` completes "the evaluation was stopped: …". */
  exceed(reason: string): never
}

/** For what is done outside of any evaluation, where the sizes of what is read bound it, or a thread that can be ended. */
export const UNMETERED_WORK: WorkMeter = {
  spend: () => undefined,
  reserve: () => undefined,
  exceed: (reason) => {
    throw new AppError('invalid', reason)
  },
}
