import { setPriority } from 'node:os'

/** Makes the calling thread so much nicer to others on a busy core, where the system can: on Linux. */
export function lowerThreadPriority(niceness: number): void {
  // Linux keeps a priority per thread, where 0 means the calling one; elsewhere it would slow the whole process.
  if (process.platform === 'linux') setPriority(0, niceness)
}
