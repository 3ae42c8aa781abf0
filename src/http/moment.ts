import { z } from 'zod'

/** A moment as a person or a program writes it, in milliseconds since the epoch. */
export const Moment = z
  .string()
  .transform((text) => (/^\d+$/.test(text) ? Number(text) : Date.parse(text)))
  .refine((ms) => Number.isFinite(ms), 'must be an ISO 8601 time or milliseconds since the epoch')
