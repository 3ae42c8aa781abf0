import { join } from 'node:path'
import type { Reader } from '../../ports/readers.js'
import { BatchingRunner } from './batching-runner.js'
import { connectReading } from './connect.js'

/** The records of a service as they stand in its data directory. */
export interface OpenReader {
  readonly reader: Reader
  readonly close: () => void
}

/**
 * Opens `tidegate.db` for reading, whether or not the service runs. Raises AppError `unavailable` for a file that is absent, damaged
 * or foreign.
 */
export function openReader(dataDir: string): OpenReader {
  const { context, execute, close } = connectReading(join(dataDir, 'tidegate.db'))
  const reader = new BatchingRunner(
    (calls) =>
      execute(
        calls.map(
          ({ apply, args }) =>
            () =>
              apply(context as never, args as never),
        ),
      ),
    1,
  )
  return { reader, close }
}
