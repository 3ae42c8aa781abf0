import { first, run } from '../engine/statements.js'
import type { Queries } from '../engine/session.js'

/** The secret of a name: the first process to ask makes it, all others get that one. */
export async function sharedSecret(queries: Queries, name: string, make: () => string): Promise<string> {
  const text = 'select value from shared_secrets where name = $1'
  const known = await first<{ value: string }>(queries, text, [name])
  if (known !== undefined) return known.value
  await run(queries, 'insert into shared_secrets (name, value) values ($1, $2) on conflict do nothing', [
    name,
    make(),
  ])
  return (await first<{ value: string }>(queries, text, [name]))?.value ?? ''
}
