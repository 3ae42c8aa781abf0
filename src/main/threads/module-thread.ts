import { threadScript } from '../../lib/package-root.js'
import { fromFailure } from '../../lib/threads/failure.js'
import type { Failure } from '../../lib/threads/failure.js'
import { compileModule, type ModuleCode } from '../../rego/index.js'
import { workInOwnThread } from './own-thread.js'

export type ModuleOutcome =
  { readonly ok: true; readonly code: ModuleCode } | { readonly ok: false; readonly failure: Failure }

const SCRIPT = threadScript('module')
const LIMITS = { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 16 }
/** Less is compiled in ten milliseconds or so, which is hardly more than a thread takes to start. */
const LEAST_BYTES = 512 * 1024

/** Makes code of the bytes of a module, of many in a thread of its own. Raises as `compileModule`. */
export async function compileModuleInThread(wasm: Uint8Array): Promise<ModuleCode> {
  if (wasm.length < LEAST_BYTES) return await compileModule(wasm)
  const outcome = await workInOwnThread<ModuleOutcome>(
    {
      script: SCRIPT,
      options: { resourceLimits: LIMITS },
      outgrown: 'the policy module is too large to be compiled',
      abandoned: 'the load was given up',
      givenUp: undefined,
    },
    (thread, { done }) => {
      thread.once('message', done)
      thread.postMessage(wasm)
    },
  )
  if (outcome.ok) return outcome.code
  throw fromFailure(outcome.failure)
}
