import { toError } from '../errors/app-error.js'
import type { Logger } from '../lib/logger.js'

/** Something that has been opened, and what closes it. */
export interface OpenPart {
  readonly name: string
  readonly close: () => void | Promise<void>
}

/** Registers the function that closes a part. */
export type OnStop = (name: string, close: OpenPart['close']) => void

/**
 * Closes all parts, the last that was opened first, one after another. One that fails is logged and keeps no other from being
 * closed. Returns the names of those that failed.
 */
export async function closeParts(opened: readonly OpenPart[], logger: Logger): Promise<string[]> {
  const failed: string[] = []
  for (const { name, close } of opened.toReversed()) {
    try {
      await close()
    } catch (raw) {
      failed.push(name)
      logger.error({ part: name, error: toError(raw).message }, 'could not close a part of the service')
    }
  }
  return failed
}
