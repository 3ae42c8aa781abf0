import type { Client } from 'pg'

const GOODBYE_MS = 1000

/** Ends a connection in order, or by force if the server does not react. */
export async function endClient(client: Client): Promise<void> {
  const overdue = setTimeout(() => client.connection.stream.destroy(), GOODBYE_MS)
  await client.end()
  clearTimeout(overdue)
}

/** Ends a connection without waiting, since the server may be unresponsive. */
export function endNow(client: Client): void {
  client.end().catch(() => undefined)
}
