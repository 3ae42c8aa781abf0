import { toSharedBytes } from '../../lib/turns/in-slices.js'
import { threadScript } from '../../lib/package-root.js'
import { fromFailure } from '../../lib/threads/failure.js'
import type { Failure } from '../../lib/threads/failure.js'
import { loadData, type DataFile, type LoadOptions, type LoadedData } from '../../rego/index.js'
import { workInOwnThread } from './own-thread.js'

/** What the thread is asked; what the files hold is in shared memory. */
export interface DataRequest {
  readonly parts: readonly (readonly DataFile[])[]
  readonly base: number
}

export type DataOutcome =
  { readonly ok: true; readonly loaded: LoadedData } | { readonly ok: false; readonly failure: Failure }

const SCRIPT = threadScript('data')
/** YAML becomes values of JavaScript on the way; JSON does not. */
const LIMITS = { maxOldGenerationSizeMb: 2048, maxYoungGenerationSizeMb: 16 }
/** Less is read in a few milliseconds, which is what a thread takes to start. */
const LEAST_BYTES = 512 * 1024

/** Makes base documents of data files, of many bytes in a thread of its own. Raises as `loadData`. */
export const loadDataInThread: NonNullable<LoadOptions['loadData']> = async (parts, base) => {
  const bytes = parts.flat().reduce((sum, { content }) => sum + content.length, 0)
  if (bytes < LEAST_BYTES) return loadData(parts, base)
  const shared = await Promise.all(parts.map(shareContents))
  const outcome = await workInOwnThread<DataOutcome>(
    {
      script: SCRIPT,
      options: { resourceLimits: LIMITS },
      outgrown: 'the data files are too large to be read',
      abandoned: 'the load was given up',
      givenUp: undefined,
    },
    (thread, { done }) => {
      thread.once('message', done)
      const request: DataRequest = { parts: shared, base }
      thread.postMessage(request)
    },
  )
  if (outcome.ok) return outcome.loaded
  throw fromFailure(outcome.failure)
}

async function shareContents(files: readonly DataFile[]): Promise<readonly DataFile[]> {
  return await Promise.all(
    files.map(async (file) => ({ ...file, content: await toSharedBytes(file.content) })),
  )
}
