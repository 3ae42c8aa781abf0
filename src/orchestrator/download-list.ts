import { open } from 'node:fs/promises'

import { authHeaders } from '../lib/outbound/credentials.js'
import type { OrchestratorConnection } from './connection.js'
import type { ListKind } from './read-list.js'
import { isSuccess, refused } from './refusal.js'

/** Where lists are (contract 4.8); without `restricted=false` only what the caller may read is listed. */
const PATHS: Readonly<Record<ListKind, string>> = {
  pipelines: '/pipelines?restricted=false',
  applications: '/v2/applications?restricted=false',
}

/**
 * Writes what the storage service answers for a list into a new file, readable by this user only, as it comes: whether it is a
 * list is for `checkList` to say. Returns the time by our clock, in milliseconds, just before it was asked for: later changes may not
 * be in it. Raises `unavailable` where there is no whole answer.
 */
export async function downloadList(
  { settings, client, now }: OrchestratorConnection,
  kind: ListKind,
  path: string,
  signal: AbortSignal | undefined,
): Promise<number> {
  const file = await open(path, 'wx', 0o600)
  try {
    const listedAt = now()
    const response = await client.send({
      method: 'GET',
      url: `${settings.storageUrl}${PATHS[kind]}`,
      headers: { accept: 'application/json', ...authHeaders(settings.storageCredentials) },
      timeoutMs: settings.listTimeoutMs,
      maxResponseBytes: settings.maxListBytes,
      signal,
      takeBody: async (chunk) => {
        await file.write(chunk)
      },
    })
    if (!isSuccess(response)) throw refused(`read all ${kind}`, response)
    return listedAt
  } finally {
    await file.close()
  }
}
