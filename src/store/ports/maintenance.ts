/** `search` indexes new records. `space` gives free space back. */
export type MaintenanceTask = 'search' | 'space'

/** Maintenance of a store. Each engine decides what a step does. */
export interface StoreMaintenance {
  /**
   * Does one bounded step, during which other writes wait. Returns whether more is due. A step with
   * nothing to do is cheap. Raises AppError `unavailable`.
   */
  step(task: MaintenanceTask): Promise<boolean>
}

/**
 * Runs all due steps of a task, so that other writes run between them. Stops when `signal` is
 * aborted.
 */
export async function maintain(
  maintenance: StoreMaintenance,
  task: MaintenanceTask,
  signal?: AbortSignal,
): Promise<void> {
  let isMoreDue = true
  while (isMoreDue && signal?.aborted !== true) isMoreDue = await maintenance.step(task)
}
