import { toSharedBytes } from '../../lib/turns/in-slices.js'
import { threadScript } from '../../lib/package-root.js'
import { fromFailure } from '../../lib/threads/failure.js'
import type { Failure } from '../../lib/threads/failure.js'
import {
  loadData,
  compileModule,
  packPublication,
  type DataFile,
  type LoadOptions,
  type LoadedData,
  type ModuleCode,
  type PackedPublication,
  type PublishRequest,
} from '../../rego/index.js'
import { workInOwnThread } from './own-thread.js'

/** A request to the thread that builds base documents. The file contents are in shared memory. */
export interface DataRequest {
  readonly parts: readonly (readonly DataFile[])[]
  readonly base: number
}

/** The answer of a thread that loads a part of the policies. */
export type LoadOutcome<Loaded> =
  { readonly ok: true; readonly loaded: Loaded } | { readonly ok: false; readonly failure: Failure }

/** Smaller loads take about as long as starting a thread, some 10 ms. */
const MIN_THREAD_BYTES = 512 * 1024

/**
 * Builds base documents from data files, from 512 KiB on in a separate thread. Throws as
 * `loadData`.
 */
export const loadDataInThread: NonNullable<LoadOptions['loadData']> = async (parts, base) => {
  const bytes = parts.flat().reduce((sum, { content }) => sum + content.length, 0)
  if (bytes < MIN_THREAD_BYTES) return loadData(parts, base)
  const request: DataRequest = { parts: await Promise.all(parts.map(shareContents)), base }
  // YAML is parsed to JavaScript values first, which needs a large heap.
  return await load<LoadedData>('data', request, 2048, 'the data files are too large to be read')
}

/** Compiles a WASM module, from 512 KiB on in a separate thread. Throws as `compileModule`. */
export async function compileModuleInThread(wasm: Uint8Array): Promise<ModuleCode> {
  if (wasm.length < MIN_THREAD_BYTES) return await compileModule(wasm)
  return await load<ModuleCode>('module', wasm, 512, 'the policy module is too large to be compiled')
}

/** Packs and signs a bundle, from 512 KiB on in a separate thread. Throws as `packPublication`. */
export async function packInThread(request: PublishRequest): Promise<PackedPublication> {
  const { publishable, image, signer } = request
  const bytes =
    publishable.type === 'bundle'
      ? publishable.bytes.length
      : publishable.modules.reduce((sum, { text }) => sum + text.length, image.bytes.length)
  const isUnchanged = publishable.type === 'bundle' && signer === undefined
  if (bytes < MIN_THREAD_BYTES || isUnchanged) return await packPublication(request)
  // The signature covers parsed documents, which need a large heap.
  return await load<PackedPublication>('publication', request, 2048, 'the policies are too large to publish')
}

async function load<Loaded>(
  script: string,
  request: unknown,
  maxOldGenerationSizeMb: number,
  outgrown: string,
): Promise<Loaded> {
  const outcome = await workInOwnThread<LoadOutcome<Loaded>>(
    {
      script: threadScript(script),
      options: { resourceLimits: { maxOldGenerationSizeMb, maxYoungGenerationSizeMb: 16 } },
      outgrown,
      abandoned: 'the load was given up',
      givenUp: undefined,
    },
    (thread, { done }) => {
      thread.once('message', done)
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
