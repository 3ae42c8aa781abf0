import { join } from 'node:path'
import type { FindOperation } from '../../ports/operation.js'
import type { OpenReader, Readers } from '../../ports/readers.js'
import { bindCall } from '../../calls/call.js'
import { BatchingRunner } from '../../calls/batching-runner.js'
import { connectReading } from './connect.js'

/**
 * Opens `tidegate.db` for reading, whether or not the service runs. Raises AppError `unavailable` for a file that is absent, damaged
 * or foreign.
 */
export function openReader(dataDir: string, operations: FindOperation<Readers>): OpenReader {
  const { execute, close } = connectReading(join(dataDir, 'tidegate.db'))
  const bind = bindCall(operations)
  const reader = new BatchingRunner((calls) => execute(calls.map(bind)), 1)
  return {
    reader,
    close: async () => {
      await reader.idle()
      close()
    },
  }
}
