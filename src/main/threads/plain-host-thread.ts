import { AppError } from '../../errors/app-error.js'
import { threadScript } from '../../lib/package-root.js'
import { ExpendableThread } from './expendable-thread.js'

/** A request to the plain host, `@open-policy-agent/opa-wasm`. */
export interface PlainRequest {
  readonly module: WebAssembly.Module
  /** Base documents and input as JSON. */
  readonly data: string
  readonly entrypoint: string
  readonly input: string | undefined
}

/**
 * The result of the plain host: the value as JSON (absent if undefined), a missing built-in, or a
 * failure.
 */
export type PlainResult =
  | { readonly kind: 'value'; readonly json: string | undefined }
  | { readonly kind: 'lacking'; readonly builtin: string }
  | { readonly kind: 'failed'; readonly message: string }

export interface PlainHost {
  readonly evaluate: (request: PlainRequest) => Promise<PlainResult>
  readonly close: () => Promise<void>
}

const LIMIT_MS = 10_000
const MAX_WAITING = 1
const LIMITS = { maxOldGenerationSizeMb: 1024 }

/**
 * Runs the plain host in a separate thread with a time limit of ten seconds, because it has none
 * itself.
 */
export function openPlainHost(): PlainHost {
  const overrun = (): AppError =>
    new AppError('evaluation_failed', `no answer within ${LIMIT_MS / 1000} s, or too much memory`)
  const thread = new ExpendableThread<PlainRequest, PlainResult>({
    script: threadScript('plain-host'),
    resourceLimits: LIMITS,
    limitMs: LIMIT_MS,
    idleMs: LIMIT_MS,
    maxWaiting: MAX_WAITING,
    overrun,
    crowded: overrun,
  })
  return {
    evaluate: (request) =>
      thread.run(request).catch((raw: unknown) => ({
        kind: 'failed' as const,
        message: raw instanceof AppError ? raw.message : String(raw),
      })),
    close: () => thread.close(),
  }
}
