import { readFile } from 'node:fs/promises'
import { z } from 'zod'

import { AppError, hasErrorCode } from '../../errors/app-error.js'
import { parseJson } from '../../lib/json/text/parse-json.js'

export const Pinned = z.object({
  revision: z.string(),
  /** When it was pinned, in epoch milliseconds. */
  sinceMs: z.number(),
  user: z.string().optional(),
})
/** The revision that serves until it is unpinned. */
export type PinnedRevision = z.output<typeof Pinned>

export const Staged = Pinned.partial({ revision: true })
/** A pin that answers a share of requests. Without a revision, it is the end of the pin. */
export type StagedPin = z.output<typeof Staged>

/** Reads a stored pin; undefined for no file. Rejects if it cannot be read or is damaged. */
export async function readPin<T>(path: string, schema: z.ZodType<T>): Promise<T | undefined> {
  const text = await readFile(path, 'utf8').catch((raw: unknown) => {
    if (hasErrorCode(raw, 'ENOENT')) return undefined
    throw raw
  })
  if (text === undefined) return undefined
  const parsed = schema.safeParse(parseJson(text))
  if (parsed.success) return parsed.data
  throw new AppError('invalid', `${path} is damaged: remove it to serve the configured policies`)
}
