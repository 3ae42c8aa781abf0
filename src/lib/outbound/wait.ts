import { setTimeout } from 'node:timers/promises'

/** Resolves after a time, or as soon as the signal is aborted. */
export async function wait(ms: number, signal?: AbortSignal): Promise<void> {
  try {
    await setTimeout(ms, undefined, signal === undefined ? {} : { signal })
  } catch (error) {
    if (signal?.aborted !== true) throw error
  }
}
