import { AppError } from '../../errors/app-error.js'
import { threadScript } from '../../lib/package-root.js'
import { fromFailure } from '../../lib/threads/failure.js'
import type { Failure } from '../../lib/threads/failure.js'
import { ExpendableThread } from './expendable-thread.js'

/** A request to the thread that parses YAML. */
export interface YamlRequest {
  readonly text: string
  /** Maximum length of the resulting JSON. */
  readonly maxBytes: number
}

/** The result of such a request. */
export type YamlOutcome =
  { readonly ok: true; readonly json: string } | { readonly ok: false; readonly failure: Failure }

/** The thread that parses YAML. */
interface YamlReader {
  /**
   * Converts a YAML document to JSON. Throws `invalid` for malformed YAML, `too_large` if it takes
   * too much time or memory, `unavailable` if too many are waiting.
   */
  readonly toJson: (text: string, maxBytes: number) => Promise<string>
  readonly close: () => Promise<void>
}

const SCRIPT = threadScript('yaml')
const LIMITS = { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: 384 }
const LIMIT_MS = 5000
const IDLE_MS = 60_000
const MAX_WAITING = 16

/** Prepares the reader. The thread starts with the first document. */
export function openYamlReader(): YamlReader {
  const thread = new ExpendableThread<YamlRequest, YamlOutcome>({
    script: SCRIPT,
    resourceLimits: LIMITS,
    limitMs: LIMIT_MS,
    idleMs: IDLE_MS,
    maxWaiting: MAX_WAITING,
    overrun: () =>
      new AppError('too_large', 'reading the YAML takes too much time or memory: send it as JSON'),
    crowded: () =>
      new AppError('unavailable', 'too many YAML bodies are waiting to be read: try again, or send JSON'),
  })
  return {
    toJson: async (text, maxBytes) => {
      const outcome = await thread.run({ text, maxBytes })
      if (outcome.ok) return outcome.json
      throw fromFailure(outcome.failure)
    },
    close: () => thread.close(),
  }
}
