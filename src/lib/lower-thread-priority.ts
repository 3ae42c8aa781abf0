import { constants, getPriority, setPriority } from 'node:os'

/** Makes the calling thread so much nicer to others on a busy core, where the system can: on Linux. */
export function lowerThreadPriority(niceness: number): void {
  // Linux keeps a priority per thread, where 0 means the calling one; elsewhere it would slow the whole process.
  if (process.platform !== 'linux') return
  // From where it stands: a process that was started nicer may not take any of that back.
  setPriority(0, Math.min(getPriority(0) + niceness, constants.priority.PRIORITY_LOW))
}
