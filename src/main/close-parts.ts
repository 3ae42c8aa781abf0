import { toError } from '../errors/app-error.js'
import type { Logger } from '../lib/logger.js'

/** An opened part of the service and the function that closes it. */
export interface OpenPart {
  readonly name: string
  readonly close: () => void | Promise<void>
}

export type OnStop = (name: string, close: OpenPart['close']) => void

/**
 * Closes all parts one after another, the last opened first. A failure is logged and does not stop
 * the others. Returns the names of the parts that failed.
 */
export async function closeParts(opened: readonly OpenPart[], logger: Logger): Promise<string[]> {
  const failed: string[] = []
  for (const { name, close } of opened.toReversed()) {
    try {
      await close()
    } catch (raw) {
      failed.push(name)
      logger.error({ part: name, error: toError(raw).message }, 'a part of the service failed to close')
    }
  }
  return failed
}
