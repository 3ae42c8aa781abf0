/** `search`: what lately kept records need to be found quickly. `space`: giving back what deleted records have left. */
export type MaintenanceTask = 'search' | 'space'

/** Work that a store needs beside the calls of features. Which that is, and how much of it a step does, each engine decides. */
export interface StoreMaintenance {
  /**
   * Does one bounded piece of a task, during which other writes wait; returns whether more is due now. A task with nothing to do
   * costs next to nothing, so that it may be asked for every moment. Raises AppError `unavailable`.
   */
  step(task: MaintenanceTask): Promise<boolean>
}

/** Does all of a task that is due, step by step, so that other writes come in between; ends early when `signal` is aborted. */
export async function maintain(
  maintenance: StoreMaintenance,
  task: MaintenanceTask,
  signal?: AbortSignal,
): Promise<void> {
  let isMoreDue = true
  while (isMoreDue && signal?.aborted !== true) isMoreDue = await maintenance.step(task)
}
