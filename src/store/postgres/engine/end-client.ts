import type { Client } from 'pg'

const GOODBYE_MS = 1000

/** Ends a connection in order, and by itself where the server does not hear of it. */
export async function endClient(client: Client): Promise<void> {
  const overdue = setTimeout(() => client.connection.stream.destroy(), GOODBYE_MS)
  await client.end()
  clearTimeout(overdue)
}

/** Ends a connection whose server may never answer: its end is not waited for. */
export function endNow(client: Client): void {
  client.end().catch(() => undefined)
}
