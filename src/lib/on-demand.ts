import { closeSync, openSync } from 'node:fs'
import { devNull } from 'node:os'

import { AppError } from '../errors/app-error.js'

/** What loading a part of the program opens at a time, at the most: five when this was written. */
const FILES_OF_A_PART = 12

/** Gives what `make` makes when it is first asked for, to all who ask; after a failure the next one tries again. */
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
 * The same for a part of the program that `load` imports. Node.js takes a module that could not be read once for one that never can be: where as many files
 * as that needs cannot be opened now, nothing is imported, and it raises `unavailable`.
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
      'the service has too many files and connections open to load what answers this: try again, or allow it more (ulimit -n)',
      { cause },
    )
  } finally {
    for (const file of opened) closeSync(file)
  }
}
