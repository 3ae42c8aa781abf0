import { AppError } from '../../errors/app-error.js'
import { threadScript } from '../../lib/package-root.js'
import { fromFailure } from '../../lib/threads/failure.js'
import type { Failure } from '../../lib/threads/failure.js'
import { ExpendableThread } from './expendable-thread.js'

/** What the thread that reads YAML is asked. */
export interface YamlRequest {
  readonly text: string
  /** As long as its JSON may be. */
  readonly maxBytes: number
}

/** What came of it. */
export type YamlOutcome =
  { readonly ok: true; readonly json: string } | { readonly ok: false; readonly failure: Failure }

/** The thread that reads YAML, for as long as the service runs. */
interface YamlReader {
  /**
   * A document in YAML as JSON. Raises `invalid` for what cannot be read, `too_large` for what takes too long or needs too much
   * memory, `unavailable` when too many are waiting.
   */
  readonly toJson: (text: string, maxBytes: number) => Promise<string>
  readonly close: () => Promise<void>
}

const SCRIPT = threadScript('yaml')
const LIMITS = { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: 384 }
const LIMIT_MS = 5000
const IDLE_MS = 60_000
const MAX_WAITING = 16

/** Starts nothing yet: the thread starts with the first document. */
export function openYamlReader(): YamlReader {
  const thread = new ExpendableThread<YamlRequest, YamlOutcome>({
    script: SCRIPT,
    resourceLimits: LIMITS,
    limitMs: LIMIT_MS,
    idleMs: IDLE_MS,
    maxWaiting: MAX_WAITING,
    overrun: () =>
      new AppError('too_large', 'the YAML takes too long, or too much memory, to be read: send it as JSON'),
    crowded: () =>
      new AppError('unavailable', 'too many bodies in YAML are waiting to be read; try again, or send JSON'),
  })
  return {
    toJson: async (text, maxBytes) => {
      const outcome = await thread.ask({ text, maxBytes })
      if (outcome.ok) return outcome.json
      throw fromFailure(outcome.failure)
    },
    close: () => thread.close(),
  }
}
