import { closeSync, openSync } from 'node:fs'
import { devNull } from 'node:os'

import { AppError } from '../errors/app-error.js'

/**
 * Maximum number of files that are open at a time while a part of the program is loaded. Five in
 * practice.
 */
const FILES_OF_A_PART = 12

/**
 * Calls `make` at the first use and returns the same result to all callers. After a failure the
 * next call tries again.
 */
export function onDemand<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined
      throw error
    })
    return made
  }
}

/**
 * As `onDemand`, for a part of the program that `load` imports. Node.js remembers a failed import
 * for ever, so this imports nothing while too few files can be opened. It then throws
 * `unavailable`.
 */
export function partOnDemand<T>(load: () => Promise<T>): () => Promise<T> {
  return onDemand(async () => {
    requireFiles()
    return await load()
  })
}

function requireFiles(): void {
  const opened: number[] = []
  try {
    while (opened.length < FILES_OF_A_PART) opened.push(openSync(devNull, 'r'))
  } catch (cause) {
    throw new AppError(
      'unavailable',
      'the service has too many open files and connections to load the code for this request: try again, or raise the limit (ulimit -n)',
      { cause },
    )
  } finally {
    for (const file of opened) closeSync(file)
  }
}
