import { DateTime } from 'luxon'
import { z } from 'zod'

/** A moment as a person or a program writes it, in milliseconds since the epoch; a time that names no zone is in UTC. */
export const Moment = z
  .string()
  .transform((text) =>
    /^\d+$/.test(text) ? Number(text) : DateTime.fromISO(text, { zone: 'utc' }).toMillis(),
  )
  .refine((ms) => Number.isFinite(ms), 'must be an ISO 8601 time or milliseconds since the epoch')
