import { requireWriter } from '../engine/migrate.js'
import type { Queries } from '../engine/session.js'
import { first } from '../engine/statements.js'
import { serviceSchema } from '../migrations/service.js'

/** Raises `unavailable` where a newer release lets this one write to the database no more. One round trip, for what is written outside of the transactions of calls. */
export async function requireWritable(queries: Queries): Promise<void> {
  requireWriter(
    serviceSchema,
    await first<{ oldestWriter: number }>(
      queries,
      'select oldest_writer as "oldestWriter" from store_schema',
    ),
  )
}
