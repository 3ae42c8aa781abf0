import { AppError } from '../../errors/app-error.js'
import { threadScript } from '../../lib/package-root.js'
import { ExpendableThread } from './expendable-thread.js'

/** What the plain host, `@open-policy-agent/opa-wasm`, is asked. */
export interface PlainQuestion {
  readonly module: WebAssembly.Module
  /** Base documents and input as JSON. */
  readonly data: string
  readonly entrypoint: string
  readonly input: string | undefined
}

/** What it answers: the value as JSON, absent where it is undefined; a built-in that it lacks; or that it failed. */
export type PlainAnswer =
  | { readonly kind: 'value'; readonly json: string | undefined }
  | { readonly kind: 'lacking'; readonly builtin: string }
  | { readonly kind: 'failed'; readonly message: string }

export interface PlainHost {
  readonly ask: (question: PlainQuestion) => Promise<PlainAnswer>
  readonly close: () => Promise<void>
}

const LIMIT_MS = 10_000
const MAX_WAITING = 1
const LIMITS = { maxOldGenerationSizeMb: 1024 }

/** The plain host in a thread of its own, since it has no limit of its own: what takes ten seconds has failed. */
export function openPlainHost(): PlainHost {
  const overrun = (): AppError =>
    new AppError('evaluation_failed', `no answer within ${LIMIT_MS / 1000} s, or too much memory`)
  const thread = new ExpendableThread<PlainQuestion, PlainAnswer>({
    script: threadScript('plain-host'),
    resourceLimits: LIMITS,
    limitMs: LIMIT_MS,
    idleMs: LIMIT_MS,
    maxWaiting: MAX_WAITING,
    overrun,
    crowded: overrun,
  })
  return {
    ask: (question) =>
      thread.ask(question).catch((raw: unknown) => ({
        kind: 'failed' as const,
        message: raw instanceof AppError ? raw.message : String(raw),
      })),
    close: () => thread.close(),
  }
}
